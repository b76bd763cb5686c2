"""Runs a command on a pseudo terminal: what comes in is typed, what it shows goes out. Ends as the command ends, and says whether
the terminal was left as it was."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
before = termios.tcgetattr(slave)
child = os.fork()
if child == 0:
    os.close(master)
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.execvp(sys.argv[3], sys.argv[3:])
typed = sys.stdin.fileno()
watched = [master, typed]
status = None
while status is None:
    ready, _, _ = select.select(watched, [], [], 0.05)
    if typed in ready:
        keys = os.read(typed, 4096)
        if keys:
            os.write(master, keys)
        else:
            watched.remove(typed)
    if master in ready:
        os.write(1, os.read(master, 65536))
    elif not ready:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
os.write(2, b"terminal as before\n" if termios.tcgetattr(slave) == before else b"terminal changed\n")
sys.exit(status if status >= 0 else 128 - status)
