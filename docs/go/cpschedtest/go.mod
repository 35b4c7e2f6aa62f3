module cpsched.local/cpschedtest

go 1.22
