/**
 * The runtime's own stream handles, which node:net is made of: their shapes, how to get new ones,
 * and nothing else. They are no stable interface of Node.js; their users ask
 * `runtimeHandles` first and go by node:net where it answers undefined.
 */

/** A libuv stream as the runtime hands it to JavaScript. Methods answer 0 or a negative errno. */
export interface StreamHandle {
  /** Called with `this` as the handle; the length or the error is in `StreamState`. */
  onread: (this: StreamHandle) => void;
  useUserBuffer(buffer: Uint8Array): void;
  readStart(): number;
  readStop(): number;
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, data: Uint8Array): number;
  shutdown(request: StreamRequest): number;
  close(closed?: () => void): void;
  /** Only of TCP. */
  reset?(): number;
  setNoDelay?(on: boolean): number;
  setKeepAlive?(on: boolean, delayS: number): number;
  getpeername?(into: SocketName): number;
  getsockname?(into: SocketName): number;
}

export interface ConnectableTcp extends StreamHandle {
  /** Takes over a descriptor. */
  open(fd: number): number;
  connect(request: StreamRequest, address: string, port: number): number;
  connect6(request: StreamRequest, address: string, port: number): number;
}

export interface ConnectablePipe extends StreamHandle {
  /** Takes over a descriptor. */
  open(fd: number): number;
  connect(request: StreamRequest, path: string): number;
}

export interface SocketName {
  address?: string;
  port?: number;
}

export interface StreamRequest {
  oncomplete?: (status: number) => void;
}

export interface WriteRequest extends StreamRequest {
  /** Keeps what is written alive. */
  buffer?: Uint8Array;
}

export interface RuntimeHandles {
  newTcp(): ConnectableTcp;
  newPipe(): ConnectablePipe;
  newTcpConnect(): StreamRequest;
  newPipeConnect(): StreamRequest;
  newWrite(): WriteRequest;
  newShutdown(): StreamRequest;
  /** The length of the read that is being reported, or a negative errno. */
  readLength(): number;
  /** True when the write that was just asked for goes on. */
  wasAsync(): boolean;
}

/** Undefined where the runtime does not have them in the form that is known here. */
export const runtimeHandles: RuntimeHandles | undefined = load();

type Make<T> = new (kind?: number) => T;

function load(): RuntimeHandles | undefined {
  const streams = binding('stream_wrap');
  const tcp = binding('tcp_wrap');
  const pipe = binding('pipe_wrap');
  const state = streams['streamBaseState'];
  const { kReadBytesOrError: read, kLastWriteWasAsync: async } = streams;
  const makers = [streams['WriteWrap'], streams['ShutdownWrap'], tcp['TCP'], tcp['TCPConnectWrap']];
  const isKnown =
    state instanceof Int32Array &&
    typeof read === 'number' &&
    typeof async === 'number' &&
    [...makers, pipe['Pipe'], pipe['PipeConnectWrap']].every((made) => typeof made === 'function');
  if (!isKnown) return undefined;
  const Write = streams['WriteWrap'] as Make<WriteRequest>;
  const Shutdown = streams['ShutdownWrap'] as Make<StreamRequest>;
  const Tcp = tcp['TCP'] as Make<ConnectableTcp>;
  const TcpConnect = tcp['TCPConnectWrap'] as Make<StreamRequest>;
  const Pipe = pipe['Pipe'] as Make<ConnectablePipe>;
  const PipeConnect = pipe['PipeConnectWrap'] as Make<StreamRequest>;
  return {
    newTcp: () => new Tcp(0),
    newPipe: () => new Pipe(0),
    newTcpConnect: () => new TcpConnect(),
    newPipeConnect: () => new PipeConnect(),
    newWrite: () => new Write(),
    newShutdown: () => new Shutdown(),
    readLength: () => state[read] as number,
    wasAsync: () => state[async] !== 0,
  };
}

function binding(name: string): Record<string, unknown> {
  const { binding: find } = process as unknown as { binding?: (name: string) => unknown };
  try {
    return (find?.(name) ?? {}) as Record<string, unknown>;
  } catch {
    return {}; // not offered by this runtime
  }
}
