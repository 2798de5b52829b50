/**
 * Sizes and offsets of the C structures that are written and read byte by byte, one table per
 * architecture, and the constants of Linux that both have in common. Pure data: no call happens
 * here.
 *
 * Source: the Linux system call interface as glibc and musl declare it. musl declares some lengths
 * as 32 bits plus padding where glibc has 64; on a little-endian machine with the padding zeroed
 * both are the same bytes.
 */

export interface Layout {
  readonly sizeOfPointer: number;
  readonly sizeOfLong: number;
  readonly msghdr: {
    readonly size: number;
    readonly name: number;
    readonly nameLength: number;
    readonly vector: number;
    readonly vectorLength: number;
    readonly control: number;
    readonly controlLength: number;
    readonly flags: number;
  };
  readonly iovec: { readonly size: number; readonly base: number; readonly length: number };
  readonly cmsghdr: {
    readonly size: number;
    readonly length: number;
    readonly level: number;
    readonly type: number;
    /** Control messages start at multiples of this. */
    readonly alignment: number;
  };
  readonly rlimit: { readonly size: number; readonly current: number; readonly maximum: number };
  /** sizeof(pthread_mutex_t) of glibc. */
  readonly mutexBytes: number;
}

const linux64: Layout = {
  sizeOfPointer: 8,
  sizeOfLong: 8,
  msghdr: {
    size: 56,
    name: 0,
    nameLength: 8,
    vector: 16,
    vectorLength: 24,
    control: 32,
    controlLength: 40,
    flags: 48,
  },
  iovec: { size: 16, base: 0, length: 8 },
  cmsghdr: { size: 16, length: 0, level: 8, type: 12, alignment: 8 },
  rlimit: { size: 16, current: 0, maximum: 8 },
  mutexBytes: 40,
};

/** Architectures by `process.arch`; one that is not here is refused at start. */
export const LAYOUTS: Readonly<Record<string, Layout>> = {
  x64: linux64,
  arm64: { ...linux64, mutexBytes: 48 },
};

/** Offset of the path in sockaddr_un, and of the port in both internet forms. */
export const SUN_PATH_OFFSET = 2;
/** Bytes of sun_path. */
export const SUN_PATH_BYTES = 108;
export const SOCKADDR_IN_BYTES = 16;
export const SOCKADDR_IN6_BYTES = 28;
/** Enough for every address family used here. */
export const SOCKADDR_BYTES_MAX = 128;

export const SHUT_RD = 0;
/** The flag of poll: the other side has closed, or shut down its writing half. */
export const POLLRDHUP = 0x2000;
/** struct sock_filter. */
export const SOCK_FILTER_BYTES = 8;

export const AF_UNSPEC = 0;
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;

export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_SEQPACKET = 5;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SOL_IPV6 = 41;
export const SO_REUSEADDR = 2;
export const SO_REUSEPORT = 15;
export const SO_ATTACH_FILTER = 26;
export const SO_PASSCRED = 16;
export const SO_PEERCRED = 17;
export const IPV6_V6ONLY = 26;
export const IPPROTO_MPTCP = 262;

export const SCM_RIGHTS = 1;
export const SCM_CREDENTIALS = 2;
/** struct ucred: process, user and group, four bytes each. */
export const UCRED_BYTES = 12;
export const UCRED_UID_OFFSET = 4;
export const MSG_CTRUNC = 0x8;
export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_CMSG_CLOEXEC = 0x40000000;

export const F_GETFD = 1;
export const F_SETFD = 2;
export const F_GETFL = 3;
export const F_SETFL = 4;
export const F_SETOWN = 8;
export const F_DUPFD_CLOEXEC = 1030;
export const FD_CLOEXEC = 1;
export const O_NONBLOCK = 0o4000;
export const O_ASYNC = 0o20000;

export const PROT_READ = 1;
export const PROT_WRITE = 2;
export const MAP_SHARED = 1;
export const MFD_CLOEXEC = 1;

export const PR_SET_PDEATHSIG = 1;
export const WNOHANG = 1;
export const RLIMIT_CORE = 4;
export const RLIMIT_NOFILE = 7;
