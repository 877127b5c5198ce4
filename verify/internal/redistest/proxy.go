package redistest

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Proxy stands between a client and a server and fails on command. Until told
// otherwise it passes everything on.
type Proxy struct {
	// Addr is where clients connect to.
	Addr string

	t      testing.TB
	server string
	calls  atomic.Int64
	cuts   atomic.Int64
	work   sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	delay    time.Duration
	hang     chan struct{} // replies wait for its end; nil if they need not
}

// NewProxy returns a proxy before a server. It ends with the test.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p := &Proxy{Addr: "127.0.0.1:0", t: t, server: server, open: map[net.Conn]bool{}}
	p.Accept()
	t.Cleanup(func() {
		p.Pass()
		p.Refuse()
		p.work.Wait()
	})
	return p
}

// Calls returns how many scripts have been called through the proxy.
func (p *Proxy) Calls() int64 { return p.calls.Load() }

// Accept has the proxy take connections, after Refuse.
func (p *Proxy) Accept() {
	p.t.Helper()
	listener, err := net.Listen("tcp", p.Addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener, p.Addr = listener, listener.Addr().String()
	p.work.Go(func() { p.accept(listener) })
}

// Refuse breaks all connections and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for conn := range p.open {
		_ = conn.Close()
	}
}

// Hang holds all replies back until Pass.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hang == nil {
		p.hang = make(chan struct{})
	}
}

// Slow delays each reply.
func (p *Proxy) Slow(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// Cut has so many of the next replies of scripts end in the middle, and their
// connections with them. The server has run those scripts.
func (p *Proxy) Cut(replies int64) { p.cuts.Store(replies) }

// Pass ends Hang, Slow and Cut.
func (p *Proxy) Pass() {
	p.cuts.Store(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = 0
	if p.hang != nil {
		close(p.hang)
		p.hang = nil
	}
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// serve passes on what one connection says, until either end closes it.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	defer p.drop(client, server)
	if !p.keep(client, server) {
		return
	}
	var script atomic.Bool // the last request called one
	p.work.Go(func() {
		defer p.drop(client, server)
		copyChunks(server, client, func(request []byte) error {
			n := scripts(request)
			p.calls.Add(n)
			script.Store(n > 0)
			return nil
		})
	})
	copyChunks(client, server, func(reply []byte) error {
		p.hold()
		if script.Load() && p.cuts.Add(-1) >= 0 {
			_, err := client.Write(reply[:len(reply)/2])
			return errors.Join(errCut, err)
		}
		return nil
	})
}

var errCut = errors.New("cut")

// copyChunks copies what arrives after a function has looked at it.
func copyChunks(to, from net.Conn, look func([]byte) error) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || look(buffer[:n]) != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// scripts returns how many scripts a chunk of requests calls. EVALSHA is the
// usual way, and EVAL follows where it failed.
func scripts(request []byte) int64 {
	lower := bytes.ToLower(request)
	return int64(bytes.Count(lower, []byte("\nevalsha\r\n")) + bytes.Count(lower, []byte("\neval\r\n")))
}

// hold keeps a reply back for as long as it is to be.
func (p *Proxy) hold() {
	p.mu.Lock()
	delay, hang := p.delay, p.hang
	p.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if delay > 0 {
		<-time.After(delay)
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.open[conn] = true
	}
	return p.listener != nil
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(p.open, conn)
	}
}
