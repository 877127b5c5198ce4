module github.com/slidegate/slidegate

go 1.25

require github.com/hashicorp/golang-lru/v2 v2.0.7
