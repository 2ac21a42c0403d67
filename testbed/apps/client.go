// A client on the official Go SDK of MCP, over stdio: carries out calls that it reads, and answers
// them, as client.mjs does.
//
//	go-client PROTOCOL PROGRAM ARGUMENTS…    the protocol's version, 2025-11-25 or 2026-07-28
//
// scripts/sdks, which installs from PyPI and npm alone, does not build it. In a folder with a copy of
// this file:
//
//	go mod init client && go get github.com/modelcontextprotocol/go-sdk
//	go build -o …/target/sdks/bin/go-client
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	var answer string
	asked := []string{}
	options := &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, request.Params.Message)
			if answer == "cancel" {
				return &mcp.ElicitResult{Action: "cancel"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
		},
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "a test", Version: "1"}, options)
	transport := &mcp.CommandTransport{Command: exec.Command(os.Args[2], os.Args[3:]...)}
	version := &mcp.ClientSessionOptions{ProtocolVersion: os.Args[1]}
	session, err := client.Connect(ctx, transport, version)
	check(err)
	tools, err := session.ListTools(ctx, nil)
	check(err)
	out := json.NewEncoder(os.Stdout)
	hello := session.InitializeResult()
	check(out.Encode(map[string]any{
		"protocol": hello.ProtocolVersion, "tools": len(tools.Tools), "instructions": hello.Instructions,
	}))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var tool string
		var arguments map[string]any
		var milliseconds time.Duration
		asked, answer = []string{}, ""
		check(json.Unmarshal(lines.Bytes(), &[]any{&tool, &arguments, &milliseconds, &answer}))
		call, cancel := ctx, func() {}
		if milliseconds > 0 {
			call, cancel = context.WithTimeout(ctx, milliseconds*time.Millisecond)
		}
		result, err := session.CallTool(call, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		cancel()
		if err != nil {
			check(out.Encode(map[string]any{"error": true, "text": err.Error(), "asked": asked}))
			continue
		}
		var texts []string
		for _, part := range result.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				texts = append(texts, text.Text)
			}
		}
		text := strings.Join(texts, "\n")
		check(out.Encode(map[string]any{"error": result.IsError, "text": text, "asked": asked}))
	}
	check(session.Close())
}
