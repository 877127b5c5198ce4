module github.com/slidegate/slidegate/examples/redis

go 1.25

replace github.com/slidegate/slidegate => ../..

require (
	github.com/redis/go-redis/v9 v9.22.0
	github.com/slidegate/slidegate v0.1.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
)
