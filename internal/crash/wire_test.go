package crash_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// wire is an agent.Transport to another process: a connection for each
// message, on which the bytes go there behind their length and the replies come
// back behind their number.
type wire struct {
	child *child
	addr  string
}

const maxFrame = 1 << 24

func (w wire) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.Network, SenderLearns: true}
}

func (w wire) Send(ctx context.Context, data []byte) ([][]byte, error) {
	w.child.at("send")
	conn, err := new(net.Dialer).DialContext(ctx, "unix", w.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := writeFrames(conn, data); err != nil {
		return nil, err
	}
	w.child.at("sent")
	replies, err := readFrames(bufio.NewReader(conn))
	if err != nil {
		return nil, err
	}
	return replies, w.acknowledged(replies)
}

// acknowledged tells the driver that the other side has a message.
func (w wire) acknowledged(replies [][]byte) error {
	for _, data := range replies {
		e, err := envelope.Decode(data)
		if err != nil {
			return err
		}
		if e.ReceiptKind() == envelope.Ack {
			w.child.say("acked %s %s %s", e.Sender(), e.Receiver(), e.InReplyTo())
		}
	}
	return nil
}

// listen hands what comes over the socket to the host, from a goroutine that
// lives as long as the process.
func (c *child) listen() error {
	addr := c.socket(c.Role)
	if err := os.Remove(addr); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // of an earlier life
	}
	l, err := net.Listen("unix", addr)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return nil
}

// serve answers one message. When there is no answer, the connection ends
// without one.
func (c *child) serve(conn net.Conn) {
	defer conn.Close()
	frames, err := readFrames(bufio.NewReader(conn))
	if err != nil || len(frames) != 1 {
		return
	}
	c.at("deliver")
	replies, err := c.host.Deliver(context.Background(), frames[0])
	if err != nil {
		return
	}
	c.at("answer")
	// An error is the other side's, which sends the message again.
	_ = writeFrames(conn, replies...)
}

func writeFrames(w io.Writer, frames ...[]byte) error {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(frames)))
	for _, f := range frames {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(f))), f...)
	}
	_, err := w.Write(out)
	return err
}

func readFrames(r io.Reader) ([][]byte, error) {
	size := func(most uint32) (uint32, error) {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return 0, err
		}
		if got := binary.BigEndian.Uint32(n[:]); got <= most {
			return got, nil
		}
		return 0, fmt.Errorf("a frame says that it is longer than %d", most)
	}
	count, err := size(1024)
	if err != nil {
		return nil, err
	}
	var frames [][]byte
	for range count {
		n, err := size(maxFrame)
		if err != nil {
			return nil, err
		}
		f := make([]byte, n)
		if _, err := io.ReadFull(r, f); err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, nil
}
