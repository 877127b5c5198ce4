package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestEveryFrameworkCountsByTheTenantOfTheToken(t *testing.T) {
	app := withFiber()
	servers := map[string]func(*http.Request) *http.Response{
		"nethttp": recorded(withNetHTTP()),
		"gin":     recorded(withGin()),
		"echo":    recorded(withEcho()),
		"fiber": func(r *http.Request) *http.Response {
			response, err := app.Test(r)
			if err != nil {
				t.Fatal(err)
			}
			return response
		},
	}
	for name, do := range servers {
		t.Run(name, func(t *testing.T) {
			status := func(authorization string) int {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.Header.Set("Authorization", authorization)
				response := do(r)
				defer response.Body.Close()
				return response.StatusCode
			}
			for i := range 5 {
				if got := status(bearer(t, "acme")); got != http.StatusOK {
					t.Fatalf("request %d of a tenant: status %d, want 200", i+1, got)
				}
			}
			if got := status(bearer(t, "acme")); got != http.StatusTooManyRequests {
				t.Errorf("the sixth request of a tenant: status %d, want 429", got)
			}
			if got := status(bearer(t, "globex")); got != http.StatusOK {
				t.Errorf("another tenant: status %d, want 200", got)
			}
			for _, forged := range []string{"", "Bearer nonsense", bearer(t, ""), bearer(t, "acme") + "x"} {
				if got := status(forged); got != http.StatusBadRequest {
					t.Errorf("without a valid token: status %d, want 400", got)
				}
			}
		})
	}
}

func recorded(h http.Handler) func(*http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
}

func bearer(t *testing.T, tenant string) string {
	t.Helper()
	signed, err := token(tenant)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + signed
}
