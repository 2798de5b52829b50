/** Whether Sluice runs on this machine, told before anything is loaded that would fail in other words. */

const ARCHITECTURES = ['x64', 'arm64'];
/** `engines` of package.json says the same to npm. */
const NODE_MIN = [20, 20] as const;

export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** The version of Node.js, such as `20.20.2`. */
  readonly version: string;
}

/** What is printed in place of a start; undefined where it may run. */
export function platformRefusal({ platform, arch, version }: Machine): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
    return `sluice: Node.js ${NODE_MIN.join('.')} or newer is needed, this is ${version}\n`;
  }
  if (platform === 'linux' && ARCHITECTURES.includes(arch)) return undefined;
  return [
    `sluice: Linux on x64 or arm64 is needed, this is ${platform} on ${arch}`,
    '',
    'What is missing here is what processes of one server share: listening sockets that are handed from one to',
    'another (SCM_RIGHTS), sockets in the abstract namespace and memory in /dev/shm, for workers and hot restarts.',
    'It runs in a container or a virtual machine with Linux, on Windows also in WSL 2:',
    '',
    '  docker run --rm -it --network host -v "$PWD:/work" -w /work node:20 npx sluice -c bootstrap.yaml',
    '',
  ].join('\n');
}
