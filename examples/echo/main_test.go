package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReportsAreHeldToAPaceOfTheirOwn(t *testing.T) {
	router := newRouter()
	get := func(path string) int {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	for i, want := range []int{200, 200, 200, 429} {
		if got := get("/reports/today"); got != want {
			t.Errorf("report %d: status %d, want %d", i+1, got, want)
		}
	}
	if got := get("/"); got != http.StatusOK {
		t.Errorf("the front page after that: status %d, want 200", got)
	}
}
