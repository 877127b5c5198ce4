package echov5mw

import (
	"net/http"
	"time"
)

// ServerTimeout returns how long the server gives a response, for the doctor; 0 if
// it sets no bound or is not known.
func (q request) ServerTimeout() time.Duration {
	server, ok := q.c.Request().Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return 0
	}
	return server.WriteTimeout
}
