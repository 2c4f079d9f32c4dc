module reverseproxy

go 1.21
