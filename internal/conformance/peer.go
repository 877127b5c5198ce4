package conformance

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A listener lets each client choose the address that it seems to come from:
// the first line on a connection is that address, or empty for the true one.
type listener struct{ net.Listener }

// patience bounds everything that a scenario waits for.
const patience = 10 * time.Second

// patienceOf is patience, or what the suite's own tests have, in which some wait
// in vain.
func patienceOf(tb testing.TB) time.Duration {
	if hasty, ok := tb.(interface{ patience() time.Duration }); ok {
		return hasty.patience()
	}
	return patience
}

// Accept returns the next connection that names its peer.
func (l listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer, err := readLine(conn)
		if err != nil {
			_ = conn.Close()
			continue
		}
		if peer == "" {
			return conn, nil
		}
		return peerConn{conn, addrOf(peer)}, nil
	}
}

// readLine reads byte by byte, so that what follows is left to the server.
func readLine(conn net.Conn) (string, error) {
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	var line strings.Builder
	for b := []byte{0}; ; {
		if _, err := io.ReadFull(conn, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b[0])
	}
}

type peerConn struct {
	net.Conn
	peer net.Addr
}

func (c peerConn) RemoteAddr() net.Addr { return c.peer }

// addrOf returns the usual kind of address where the text is one, and else that
// of a Unix socket.
func addrOf(text string) net.Addr {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return net.TCPAddrFromAddrPort(ap)
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
	}
	return &net.UnixAddr{Name: text, Net: "unix"}
}

// dial connects to a server behind a listener as a peer.
func dial(addr, peer string) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, peer+"\n"); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
