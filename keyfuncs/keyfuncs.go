package keyfuncs

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/slidegate/slidegate/core"
)

// Global gives all requests one key: the limit holds for the server as a whole.
func Global(core.Request) (string, error) { return "global", nil }

// Method keys by the HTTP method.
func Method(r core.Request) (string, error) { return present(r.Method()) }

// Path keys by the URL's path, cleaned of dots and doubled slashes. A client
// can make up paths without end; for limits by endpoint [Route] is safer.
func Path(r core.Request) (string, error) {
	p := r.Path()
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	return path.Clean(p), nil
}

// Route keys by the pattern of the matched route, such as /users/{id}. It finds
// no key where the route is not known yet: in net/http around a whole mux, and
// in Fiber's Use. Wrap the routes one by one there. In a group of chi it is the
// group's own pattern, /g/*, for all its routes.
func Route(r core.Request) (string, error) { return present(r.Route()) }

// Host keys by the host that the request was sent to, in lower case and without
// its port. The client chooses it freely unless a proxy in front checks it.
func Host(r core.Request) (string, error) {
	host := r.Host()
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[i:], "]") {
		host = host[:i]
	}
	return present(strings.ToLower(strings.TrimSuffix(host, ".")))
}

// Header keys by the value of a header. Where it is absent, empty, or there are
// several lines of it, there is no key. The values of Authorization,
// Proxy-Authorization, X-API-Key, Api-Key and Cookie are secrets, and are hashed
// by [core.HashKey].
//
// The client chooses what it sends: where nobody has checked the value yet, every
// made-up one is a key of its own. Limit by [UserID] behind authentication, or
// by the address beside this.
func Header(name string) core.KeyFunc {
	require("Header", "a header name", name != "")
	secret := isSecret(name)
	return func(r core.Request) (string, error) {
		values := r.HeaderValues(name)
		if len(values) != 1 {
			return "", core.ErrNoKey
		}
		value := trim(values[0])
		if secret && value != "" {
			return core.HashKey(value), nil
		}
		return present(value)
	}
}

// Cookie keys by the value of a cookie, hashed by [core.HashKey]: who has a
// session's cookie has the session. An absent or empty one is no key. What
// [Header] says of values that nobody has checked holds here too.
func Cookie(name string) core.KeyFunc {
	require("Cookie", "a cookie name", name != "")
	return func(r core.Request) (string, error) {
		value, _ := r.Cookie(name)
		if value == "" {
			return "", core.ErrNoKey
		}
		return core.HashKey(value), nil
	}
}

// UserID keys by what authentication left under a key of the request's context
// or the framework's own store: a string, an integer, or a [fmt.Stringer]. An
// absent or empty value is no key; another type is an error.
func UserID(key any) core.KeyFunc {
	require("UserID", "a context key", key != nil)
	return func(r core.Request) (string, error) {
		switch id := r.Value(key).(type) {
		case nil:
			return "", core.ErrNoKey
		case string:
			return present(id)
		case int:
			return strconv.Itoa(id), nil
		case int64:
			return strconv.FormatInt(id, 10), nil
		case uint64:
			return strconv.FormatUint(id, 10), nil
		case int32, uint32, uint:
			return fmt.Sprint(id), nil
		case fmt.Stringer:
			return present(id.String())
		default:
			return "", fmt.Errorf("keyfuncs: the value under %v is a %T; UserID takes a string, an integer or a fmt.Stringer", key, id)
		}
	}
}

// Join keys by several functions together, such as a user and a route. The parts
// are written with their lengths, 5:alice6:/login, so that no two lists of
// parts give one key. Where one part is missing there is no key.
func Join(parts ...core.KeyFunc) core.KeyFunc {
	requireAll("Join", parts)
	return func(r core.Request) (string, error) {
		var space [128]byte
		b := space[:0]
		for _, part := range parts {
			key, err := part(r)
			if err != nil {
				return "", err
			}
			if key == "" {
				return "", core.ErrNoKey
			}
			b = strconv.AppendInt(b, int64(len(key)), 10)
			b = append(b, ':')
			b = append(b, key...)
		}
		return string(b), nil
	}
}

// FirstOf keys by the first function that finds a key, for example the user, or
// else the address. The key is written with the place of that function, 1:alice
// or 2:192.0.2.1, so that a user cannot take the name of an address. An error
// other than a missing key ends the search.
func FirstOf(choices ...core.KeyFunc) core.KeyFunc {
	requireAll("FirstOf", choices)
	return func(r core.Request) (string, error) {
		for i, choice := range choices {
			key, err := choice(r)
			switch {
			case missing(key, err):
				continue
			case err != nil:
				return "", err
			}
			return strconv.Itoa(i+1) + ":" + key, nil
		}
		return "", core.ErrNoKey
	}
}
