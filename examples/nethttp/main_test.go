package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSearchCostsFiveOfTheHourlyPlan(t *testing.T) {
	server := httptest.NewServer(newHandler())
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/search", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-Key", "demo")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	want := `"second";r=9;t=1, "minute";r=99;t=60, "hour";r=995;t=3600`
	if got := response.Header.Get("RateLimit"); got != want {
		t.Errorf("RateLimit = %s, want %s", got, want)
	}
}

func TestWithoutAnAPIKeyTheRequestIsRefused(t *testing.T) {
	server := httptest.NewServer(newHandler())
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("status = %d, want 400", response.StatusCode)
	}
}
