module sluice.test/clients/gateways

go 1.26.0
