package main

import (
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/slidegate/slidegate/core"
)

// tenantOf returns the tenant of an Authorization header. Only a token that
// verifies has a key: of any other, the request is refused with 400, and nobody
// else's quota is touched.
func tenantOf(authorization string) (string, error) {
	text, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		return "", core.ErrNoKey
	}
	var claims struct {
		Tenant string `json:"tenant"`
		jwt.RegisteredClaims
	}
	_, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired())
	if err != nil {
		return "", fmt.Errorf("%w: %v", core.ErrNoKey, err)
	}
	return claims.Tenant, nil // an empty one is no key either
}

// perTenant is the limit of every server here.
var perTenant = core.PerMinute(5).Strict(60).Named("tenant")
