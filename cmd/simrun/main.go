package main

import "github.com/durosim/durosim/cmd/simrun/command"

func main() { command.Main(command.Program{Name: "simrun"}) }
