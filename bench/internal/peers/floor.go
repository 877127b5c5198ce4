package peers

import (
	"hash/maphash"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"
)

// floor does what every exact keyed limiter has to do, and nothing else: one
// seeded hash, which chooses a shard so that it is of use, one lock, one reading
// of the clock and one look-up in a map. It has as many shards as ours. As
// middleware it cuts the port off the address and sets two header fields, which
// always say the same.
func floor() Limiter {
	return Limiter{
		Name:    Floor,
		Decider: func(Load) Decider { return newFloor().count },
		Middleware: func(_ Load, next http.Handler) http.Handler {
			f := newFloor()
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f.serve(w.Header(), r)
				next.ServeHTTP(w, r)
			})
		},
	}
}

// The fields of the floor, with names as net/http and fasthttp spell them.
const (
	floorPolicyField, floorField = "Ratelimit-Policy", "Ratelimit"
	floorPolicy, floorState      = `"hour";q=1000000000;w=3600`, `"hour";r=999999999;t=3600`
)

// serve counts a request and sets the fields, whose values nobody else may have.
func (f *floorStore) serve(h http.Header, r *http.Request) {
	host, _, _ := strings.Cut(r.RemoteAddr, ":")
	f.count(host)
	values := &[...]string{floorPolicy, floorState}
	h[floorPolicyField], h[floorField] = values[0:1:1], values[1:2:2]
}

func floorOnEcho(Load) echo.MiddlewareFunc {
	f := newFloor()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			f.serve(c.Response().Header(), c.Request())
			return next(c)
		}
	}
}

func floorOnFiber(Load) fiber.Handler {
	f := newFloor()
	return func(c *fiber.Ctx) error {
		f.count(c.IP())
		c.Set(floorPolicyField, floorPolicy)
		c.Set(floorField, floorState)
		return c.Next()
	}
}

type floorStore struct {
	base   time.Time
	seed   maphash.Seed
	shards []floorShard
}

type floorShard struct {
	mu     sync.Mutex
	counts map[string]*floorCount
	_      [48]byte // keeps two locks out of one cache line
}

type floorCount struct {
	units int64
	last  time.Duration
}

func newFloor() *floorStore {
	n := 1
	for n < 8*runtime.GOMAXPROCS(0) {
		n *= 2
	}
	f := &floorStore{base: time.Now(), seed: maphash.MakeSeed(), shards: make([]floorShard, n)}
	for i := range f.shards {
		f.shards[i].counts = map[string]*floorCount{}
	}
	return f
}

func (f *floorStore) count(key string) bool {
	s := &f.shards[maphash.String(f.seed, key)&uint64(len(f.shards)-1)]
	s.mu.Lock()
	now := time.Since(f.base)
	c := s.counts[key]
	if c == nil {
		c = &floorCount{}
		s.counts[key] = c
	}
	c.units++
	c.last = now
	s.mu.Unlock()
	return true
}
