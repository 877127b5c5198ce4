package echomw_test

import (
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
)

func BenchmarkServe(b *testing.B) {
	for _, c := range []struct {
		name       string
		middleware []echo.MiddlewareFunc
	}{
		{"limiters=0/result=served", nil},
		{"limiters=1/headers=none/result=allowed", []echo.MiddlewareFunc{plenty(core.HeadersNone)}},
		{"limiters=1/headers=draft11/result=allowed", []echo.MiddlewareFunc{plenty(core.HeadersDraft11)}},
		{"limiters=2/headers=draft11/result=allowed", []echo.MiddlewareFunc{plenty(core.HeadersDraft11), plenty(core.HeadersDraft11)}},
		{"limiters=1/headers=draft11/result=denied", []echo.MiddlewareFunc{echomw.New(limiter(core.PerMinute(0)))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			serve := into(app(silent, c.middleware...))
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
