package fibermw_test

import (
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func BenchmarkServe(b *testing.B) {
	byPeer := func(headers core.HeaderFormat) fiber.Handler { return plenty(headers, keyfuncs.IP) }
	for _, c := range []struct {
		name       string
		middleware []fiber.Handler
	}{
		{"limiters=0/result=served", nil},
		{"limiters=1/headers=none/result=allowed", []fiber.Handler{byPeer(core.HeadersNone)}},
		{"limiters=1/headers=draft11/result=allowed", []fiber.Handler{byPeer(core.HeadersDraft11)}},
		{"limiters=2/headers=draft11/result=allowed", []fiber.Handler{byPeer(core.HeadersDraft11), byPeer(core.HeadersDraft11)}},
		{"limiters=1/headers=draft11/result=denied", []fiber.Handler{fibermw.New(by(keyfuncs.IP, core.PerMinute(0)))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			serve := into(bare(c.middleware...).Handler())
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
