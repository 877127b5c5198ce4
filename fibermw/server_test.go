package fibermw_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slidegate/slidegate/core"
	"github.com/slidegate/slidegate/fibermw"
	"github.com/slidegate/slidegate/keyfuncs"
)

// A patientStore is a memory that says that it may take a second.
type patientStore struct{ *core.Memory }

func (patientStore) Timeout() time.Duration { return time.Second }

// The doctor is told how long the server gives a response.
func TestDoctorKnowsTheServersTimeout(t *testing.T) {
	for timeout, found := range map[time.Duration]bool{time.Second: true, time.Minute: false, 0: false} {
		var b bytes.Buffer
		l := core.MustNew(core.Config{
			Rules:  []core.Rule{core.By(keyfuncs.Global, core.PerMinute(100))},
			Store:  patientStore{&core.Memory{}},
			Doctor: core.Doctor{Logger: slog.New(slog.NewTextHandler(&b, nil))},
		})
		app := fiber.New(fiber.Config{WriteTimeout: timeout})
		app.Use(fibermw.New(l))
		response, err := app.Test(httptest.NewRequest(http.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if text := b.String(); strings.Contains(text, "SG110") != found {
			t.Errorf("a server's timeout of %v: the doctor says %q; want SG110: %v", timeout, text, found)
		}
	}
}
