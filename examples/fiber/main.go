// Command fiber is a small API on Fiber: every client is held to a pace, and a
// group of costly routes to another one.
package main

import (
	"fmt"
	"log"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func main() {
	fmt.Println("Serving on 127.0.0.1:8083. Try, until it is denied:")
	fmt.Println("  curl -i 127.0.0.1:8083/reports/today")
	log.Fatal(newApp().Listen("127.0.0.1:8083"))
}

func newApp() *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(recover.New())
	app.Use(fibermw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString("hello\n") })

	reports := app.Group("/reports", fibermw.Limit(core.By(keyfuncs.IP, core.PerMinute(3).Named("reports"))))
	reports.Get("/today", func(c *fiber.Ctx) error { return c.SendString("a report\n") })
	return app
}
