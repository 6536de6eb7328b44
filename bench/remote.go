package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// remote is a server in a process of its own, so that what it takes of the
// processor is its own.
type remote struct {
	kind, url string

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a server of that kind, which ends with stop.
func start(ctx context.Context, kind, folder string, more ...string) (*remote, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), serveKind+"="+kind, serveFolder+"="+folder)
	if profiles := os.Getenv(serveProfile); profiles != "" {
		cmd.Env = append(cmd.Env, serveProfile+"="+profiles+"."+kind)
	}
	cmd.Env = append(cmd.Env, more...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s server: %w", kind, err)
	}
	r := &remote{kind: kind, cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := r.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the %s server: %w", kind, err), r.stop())
	}
	r.url = strings.TrimSpace(line)
	return r, nil
}

// stop ends the server and waits for its end.
func (r *remote) stop() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }

// counters asks the server for its counters.
func (r *remote) counters() (c counters, err error) {
	if _, err := fmt.Fprintln(r.in); err != nil {
		return c, err
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(line, &c)
}

// written is how many bytes the server has handed to the kernel so far, for files
// and to callers (proc_pid_io(5)).
func (r *remote) written() (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", r.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read what a server has written: %w", err)
	}
	_, rest, found := bytes.Cut(data, []byte("wchar: "))
	if !found {
		return 0, errors.New("the kernel does not tell what a server has written")
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return strconv.ParseInt(string(line), 10, 64)
}

// tick is how long a tick of the times in /proc is: USER_HZ is 100 wherever Go
// runs on Linux.
const tick = 10 * time.Millisecond

// cpu is how long the server has used the processors so far, in the kernel and
// out of it (proc_pid_stat(5)).
func (r *remote) cpu() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the processor time of a server: %w", err)
	}
	// The name in parentheses may have spaces; utime and stime are the 12th and
	// 13th fields after it.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the processor time of a server: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
