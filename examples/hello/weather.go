package main

import (
	"context"
	"hash/fnv"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// City is what the weather tool takes, Weather what it returns.
type City struct {
	City string `json:"city" jsonschema:"minLength=1,maxLength=60"`
}

type Weather struct {
	City    string `json:"city"`
	Sky     string `json:"sky" jsonschema:"enum=clear,enum=cloudy,enum=rain,enum=snow"`
	Celsius int    `json:"celsius"`
}

// weather makes the weather up from the city's name, the same each time.
func weather(_ context.Context, c City) (Weather, error) {
	if len(c.City) > 40 {
		return Weather{}, agent.Refuse(envelope.CodeValidation, "unknown-city")
	}
	h := fnv.New32a()
	h.Write([]byte(c.City))
	n := h.Sum32()
	skies := [...]string{"clear", "cloudy", "rain", "snow"}
	return Weather{City: c.City, Sky: skies[n%4], Celsius: int(n/4%40) - 10}, nil
}
