package keyfuncs

import (
	"errors"
	"fmt"

	"github.com/slidegate/slidegate/core"
)

// present turns an empty key into a missing one.
func present(key string) (string, error) {
	if key == "" {
		return "", core.ErrNoKey
	}
	return key, nil
}

func missing(key string, err error) bool {
	return err == nil && key == "" || errors.Is(err, core.ErrNoKey)
}

// require panics with the remedy if a function of this package was called with
// an argument that can never work: like a bad pattern in net/http, it shows when
// the program starts, not while it serves.
func require(function, what string, ok bool) {
	if !ok {
		panic(fmt.Sprintf("keyfuncs: %s needs %s", function, what))
	}
}

func requireAll(function string, fs []core.KeyFunc) {
	require(function, "at least one key function", len(fs) > 0)
	for _, f := range fs {
		require(function, "key functions that are not nil", f != nil)
	}
}
