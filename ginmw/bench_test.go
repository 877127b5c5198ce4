package ginmw_test

import (
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
)

func BenchmarkServe(b *testing.B) {
	for _, c := range []struct {
		name       string
		middleware []gin.HandlerFunc
	}{
		{"limiters=0/result=served", nil},
		{"limiters=1/headers=none/result=allowed", []gin.HandlerFunc{plenty(core.HeadersNone)}},
		{"limiters=1/headers=draft11/result=allowed", []gin.HandlerFunc{plenty(core.HeadersDraft11)}},
		{"limiters=2/headers=draft11/result=allowed", []gin.HandlerFunc{plenty(core.HeadersDraft11), plenty(core.HeadersDraft11)}},
		{"limiters=1/headers=draft11/result=denied", []gin.HandlerFunc{ginmw.New(limiter(core.PerMinute(0)))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			serve := into(app(func(*gin.Context) {}, c.middleware...))
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
