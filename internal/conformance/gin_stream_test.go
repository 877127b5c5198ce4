package conformance_test

import (
	"io"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/keyfuncs"
	"github.com/slidegate/slidegate/nethttp"
)

// Gin asks its writer for CloseNotify when it streams.
func TestRefundIfLetsAGinApplicationStream(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	app := gin.New()
	app.GET("/", func(c *gin.Context) {
		c.Stream(func(w io.Writer) bool {
			_, _ = io.WriteString(w, "streamed")
			return false
		})
	})
	limiter := core.MustNew(core.Config{Rules: []core.Rule{core.By(keyfuncs.IP, core.PerMinute(5))}})
	server := httptest.NewServer(nethttp.New(limiter, nethttp.RefundIf(func(int) bool { return false }))(app))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "streamed" {
		t.Errorf("body %q, %v; want what was streamed", body, err)
	}
}
