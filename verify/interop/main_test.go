package interop_test

import (
	"os"
	"testing"

	"github.com/gin-gonic/gin"
)

// TestMain silences Gin, whose mode belongs to the whole process.
func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(m.Run())
}
