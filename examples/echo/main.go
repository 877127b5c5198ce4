// Command echo is a small API on Echo: every client is held to a pace, and a
// group of costly routes to another one.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func main() {
	fmt.Println("Serving on 127.0.0.1:8082. Try, until it is denied:")
	fmt.Println("  curl -i 127.0.0.1:8082/reports/today")
	log.Fatal(newRouter().Start("127.0.0.1:8082"))
}

func newRouter() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(echomw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "hello\n") })

	reports := e.Group("/reports", echomw.Limit(core.By(keyfuncs.IP, core.PerMinute(3).Named("reports"))))
	reports.GET("/today", func(c echo.Context) error { return c.String(http.StatusOK, "a report\n") })
	return e
}
