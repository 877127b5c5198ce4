module github.com/slidegate/slidegate/echov5mw

go 1.25.0

replace github.com/slidegate/slidegate => ../

require (
	github.com/labstack/echo/v5 v5.4.6
	github.com/slidegate/slidegate v0.1.0
)
