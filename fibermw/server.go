package fibermw

import "time"

// ServerTimeout returns how long the server gives a response, for the doctor; 0 if
// it sets no bound.
func (q request) ServerTimeout() time.Duration { return q.c.App().Config().WriteTimeout }
