package echomw_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/echomw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A patientStore is a memory that says that it may take a second.
type patientStore struct{ *core.Memory }

func (patientStore) Timeout() time.Duration { return time.Second }

// The doctor is told how long the server gives a response.
func TestDoctorKnowsTheServersTimeout(t *testing.T) {
	for timeout, found := range map[time.Duration]bool{time.Second: true, time.Minute: false, 0: false} {
		server := &http.Server{WriteTimeout: timeout}
		if text := diagnosed(context.WithValue(t.Context(), http.ServerContextKey, server)); strings.Contains(text, "SG110") != found {
			t.Errorf("a server's timeout of %v: the doctor says %q; want SG110: %v", timeout, text, found)
		}
	}
	if text := diagnosed(t.Context()); text != "" {
		t.Errorf("no server: the doctor says %q, want nothing", text)
	}
}

// diagnosed serves a request with a context and returns what the doctor logs.
func diagnosed(ctx context.Context) string {
	var b bytes.Buffer
	l := core.MustNew(core.Config{
		Rules:  []core.Rule{core.By(keyfuncs.Global, core.PerMinute(100))},
		Store:  patientStore{&core.Memory{}},
		Doctor: core.Doctor{Logger: slog.New(slog.NewTextHandler(&b, nil))},
	})
	q := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
	e := echo.New()
	e.Use(echomw.New(l))
	e.ServeHTTP(httptest.NewRecorder(), q)
	return b.String()
}
