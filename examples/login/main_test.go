package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

func post(t *testing.T, server *httptest.Server, password string) int {
	t.Helper()
	response, err := server.Client().PostForm(server.URL+"/login", url.Values{"user": {"ada"}, "password": {password}})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestRightPasswordsCostNothing(t *testing.T) {
	server := httptest.NewServer(newHandler())
	defer server.Close()
	for range 20 {
		if status := post(t, server, "lovelace"); status != http.StatusOK {
			t.Fatalf("status = %d, want 200", status)
		}
	}
}

func TestManyWrongPasswordsAtOnceGetFiveTries(t *testing.T) {
	server := httptest.NewServer(newHandler())
	defer server.Close()
	var tried, denied atomic.Int64
	var wait sync.WaitGroup
	for range 40 {
		wait.Go(func() {
			switch post(t, server, "guess") {
			case http.StatusUnauthorized:
				tried.Add(1)
			case http.StatusTooManyRequests:
				denied.Add(1)
			}
		})
	}
	wait.Wait()
	if tried.Load() != 5 || denied.Load() != 35 {
		t.Errorf("%d tried and %d denied, want 5 and 35", tried.Load(), denied.Load())
	}
}
