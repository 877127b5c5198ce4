package peers_test

import (
	"net/http"
	"testing"

	"github.com/slidegate/slidegate/bench/internal/peers"
)

// TestDecidersAdmitAndDeny: what is measured is what its name says.
func TestDecidersAdmitAndDeny(t *testing.T) {
	for _, l := range peers.All() {
		if l.Decider == nil {
			continue
		}
		admit, deny := l.Decider(peers.Load{}), l.Decider(peers.Load{Denies: true})
		for i := range 1000 {
			if !admit("key") {
				t.Errorf("%s: request %d was denied under an ample quota", l.Name, i+1)
			}
			if l.Name != peers.Floor && deny("key") != (i == 0) {
				t.Errorf("%s: request %d of a quota of one: allowed %t", l.Name, i+1, i > 0)
			}
		}
	}
}

func TestServicesAdmitAndDeny(t *testing.T) {
	for _, s := range peers.Services() {
		admit, deny := s.New(peers.Load{}), s.New(peers.Load{Denies: true})
		for i := range 1000 {
			if got := admit(); got != http.StatusNoContent {
				t.Errorf("%s on %s: request %d got status %d under an ample quota", s.Limiter, s.Framework, i+1, got)
			}
			want := http.StatusNoContent
			if i > 0 && peers.Denies(s.Limiter) {
				want = http.StatusTooManyRequests
			}
			if got := deny(); got != want {
				t.Errorf("%s on %s: request %d of a quota of one got status %d, want %d", s.Limiter, s.Framework, i+1, got, want)
			}
		}
	}
}
