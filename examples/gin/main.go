// Command gin is a small API on Gin: every client is held to a pace, and a
// group of costly routes to another one.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/ginmw"
	"github.com/slidegate/slidegate/keyfuncs"
)

func main() {
	fmt.Println("Serving on 127.0.0.1:8081. Try, until it is denied:")
	fmt.Println("  curl -i 127.0.0.1:8081/reports/today")
	log.Fatal(newRouter().Run("127.0.0.1:8081"))
}

func newRouter() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.Use(ginmw.Limit(core.By(keyfuncs.IP, core.PerMinute(100))))
	r.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello\n") })

	reports := r.Group("/reports", ginmw.Limit(core.By(keyfuncs.IP, core.PerMinute(3).Named("reports"))))
	reports.GET("/today", func(c *gin.Context) { c.String(http.StatusOK, "a report\n") })
	return r
}
