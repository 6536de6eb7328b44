package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// sut is the running agent that is under test.
type sut struct {
	cmd *exec.Cmd
	url string
}

// startSUT starts the agent with its store in the file and returns when it
// listens.
func startSUT(ctx context.Context, program, file string, args ...string) (*sut, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"-addr", "127.0.0.1:0", "-db", file}, args...)...)
	cmd.Stderr = os.Stderr
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(printed).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("starting the agent under test: it said %q, %v", line, cmd.Wait())
	}
	return &sut{cmd: cmd, url: url}, nil
}

// stop asks the agent to end and waits for it.
func (s *sut) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the agent under test: %w", err)
	}
	return nil
}
