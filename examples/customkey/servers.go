package main

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/nethttp"
)

func withNetHTTP() http.Handler {
	tenant := nethttp.Key(func(r *http.Request) (string, error) {
		return tenantOf(r.Header.Get("Authorization"))
	})
	return nethttp.Limit(core.By(tenant, perTenant))(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	}))
}

func withGin() http.Handler {
	tenant := ginmw.Key(func(c *gin.Context) (string, error) {
		return tenantOf(c.GetHeader("Authorization"))
	})
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(ginmw.Limit(core.By(tenant, perTenant)))
	r.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello\n") })
	return r
}

func withEcho() http.Handler {
	tenant := echomw.Key(func(c echo.Context) (string, error) {
		return tenantOf(c.Request().Header.Get("Authorization"))
	})
	e := echo.New()
	e.Use(echomw.Limit(core.By(tenant, perTenant)))
	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "hello\n") })
	return e
}

func withFiber() *fiber.App {
	tenant := fibermw.Key(func(c *fiber.Ctx) (string, error) {
		return tenantOf(c.Get(fiber.HeaderAuthorization))
	})
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(fibermw.Limit(core.By(tenant, perTenant)))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString("hello\n") })
	return app
}
