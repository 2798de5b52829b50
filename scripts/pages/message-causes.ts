/** Why messages are there and what to do: for docs/messages.md. */

export interface Explained {
  readonly title: string;
  readonly cause: string;
  readonly cure: string;
}

function explained(title: string, cause: string, cure: string): Explained {
  return { title, cause, cure };
}

/** By rule of the resolvers (supervisor/resources/scope.ts). */
export const RULES: ReadonlyMap<string, Explained> = new Map([
  [
    'unsupported',
    explained(
      'Known to the API, not served here',
      "the field, its value or the extension is one of Envoy's that Sluice does not serve; it is refused because it would change what is served.",
      'leave it out, or take what the hint names. [features.md](features.md) lists what is served.',
    ),
  ],
  [
    'extension',
    explained(
      'Extensions without their settings',
      'an extension has no `typed_config`, or one whose message is none of those that fit this place.',
      "write the `@type` of the extension's message; [features.md](features.md) names them.",
    ),
  ],
  [
    'duplicate',
    explained(
      'Said twice',
      'two things of one kind have the same name, or one thing is said in two ways.',
      'rename or remove one of them.',
    ),
  ],
  [
    'reference',
    explained(
      'Names that nothing has',
      'a cluster, secret, filter or other resource is named and is nowhere.',
      'add it, or correct the name; the hint proposes the nearest ones.',
    ),
  ],
  [
    'regex',
    explained(
      'Regular expressions',
      'the pattern is none of RE2, or larger than `re2.max_program_size.error_level` allows.',
      'correct or simplify it ([regex.md](regex.md)).',
    ),
  ],
  [
    'substitution_format',
    explained(
      'Formats of logs and headers',
      'a `%COMMAND%` is unknown, not closed, or has wrong arguments.',
      'correct the command; a percent sign itself is written `%%`.',
    ),
  ],
  [
    'path_template',
    explained(
      'Path templates',
      'a pattern or rewrite of the URI template matcher breaks its rules.',
      'name each variable once, and only those in the rewrite that the pattern has.',
    ),
  ],
  [
    'address',
    explained(
      'Addresses',
      'an address or a port cannot be bound or reached as it is written.',
      'write an IP address (names only where hosts are looked up), a port below 65,536, or the path of a socket.',
    ),
  ],
  [
    'file',
    explained(
      'Files',
      'a file that the configuration names is not there, cannot be read, is no regular file, is too large, or does not hold what it should.',
      'check path, permissions and content; relative paths begin at the folder in which the server was started.',
    ),
  ],
  [
    'conflict',
    explained(
      'Fields that do not fit together',
      'fields contradict each other, a value is outside its range, or one is missing that another one needs.',
      'remove or add what the message names.',
    ),
  ],
  [
    'no_effect',
    explained(
      'Accepted, with another effect than expected',
      'the field is read, and does nothing here or not what its name says; the message says what is lost.',
      'leave it out if you can do without, to make the warning go away.',
    ),
  ],
]);

/** By class of the error. */
export const THROWN: ReadonlyMap<string, Explained> = new Map([
  [
    'OptionRefusal',
    explained(
      'Options',
      'the command line has an option that does not exist, stands twice, or has a wrong value.',
      'correct it: `sluice --help` and [options.md](options.md) list them all.',
    ),
  ],
  [
    'AdminBindError',
    explained(
      'The admin address',
      'another process has the address, it is none of this machine, or its port needs rights.',
      'stop the other process (`sluice doctor` names it), or change `admin.address`.',
    ),
  ],
  [
    'AdminTokenError',
    explained(
      "The admin interface's token",
      'the file of `--admin-token-path` is missing, not readable or empty.',
      'write the token into its first line and let the server read it.',
    ),
  ],
  [
    'HotRestartRefused',
    explained(
      'Hot restarts',
      'the sockets between epochs cannot be made, belong to another server, or the epoch before does not answer.',
      'give each server on a machine a `--base-id` of its own, and start epoch 0 first; `--disable-hot-restart` does without.',
    ),
  ],
  [
    'RefusedFileError',
    explained(
      'Files that a configuration names',
      'the path is a folder, a device or another thing that is no file.',
      'name a regular file.',
    ),
  ],
  [
    'PlatformError',
    explained(
      'The platform',
      'the operating system or the runtime cannot do what the option needs.',
      'leave the option out, or run on Linux with Node.js 20 or later.',
    ),
  ],
  [
    'RuntimeLayerError',
    explained(
      'Runtime layers',
      'a folder of the runtime cannot be read, or holds more or larger files than are taken.',
      'check `layered_runtime` and the folder ([runtime.md](runtime.md)).',
    ),
  ],
]);

interface Area extends Explained {
  readonly paths: RegExp;
}

function area(paths: RegExp, title: string, cause: string, cure: string): Area {
  return { paths, title, cause, cure };
}

/** By the file that writes the line; the first that fits. */
export const AREAS: readonly Area[] = [
  area(
    /^supervisor\/admin\//,
    'The admin interface',
    'its access log, a page or a command had to deal with what the line says; traffic is not concerned.',
    'see [admin-security.md](admin-security.md) for who may reach it, and check the paths of its logs.',
  ),
  area(
    /^supervisor\/hot-restart\//,
    'Between two epochs',
    'the other epoch of a hot restart ended, stopped to answer or sent something else than expected. The one that is left serves on.',
    'look into the log of the other epoch; start the restart again if the new one is gone.',
  ),
  area(
    /^supervisor\/processes\//,
    'Worker processes',
    'a worker ended, could not start, was stuck or sent nonsense. It is replaced, and connections of the others go on.',
    'the lines before it say why; a script that holds a worker must give way, memory that is short must be given.',
  ),
  area(
    /^supervisor\/(drain|life-cycle|server|start|loop)\//,
    'Start, drain and end',
    'the server was told to do something, or a part of it could not be started, saved or flushed.',
    'nothing where a signal or a command was meant; otherwise the reason stands in the line.',
  ),
  area(
    /^supervisor\/(stats|stats-output|recent)\//,
    'Statistics',
    'a worker did not report in time, a sink does not take what is sent, or a tag takes too long.',
    'check the sink and its address; a busy machine shows its load by `server.worker` statistics ([statistics.md](statistics.md)).',
  ),
  area(
    /^supervisor\/(scripts|lua)\//,
    'Modules of your own',
    'a module could not be loaded again; the version before it stays in use.',
    'correct the module ([extending.md](extending.md)); `POST /filters/reload` loads it again.',
  ),
  area(
    /^supervisor\/(xds|services|load-stats|health-discovery)\//,
    'Control planes and services',
    'an update was refused, a stream ended or a resource did not come. What was there before stays in use.',
    'the reason stands in the line and goes to the control plane as NACK; [control-planes.md](control-planes.md) and [xds.md](xds.md).',
  ),
  area(
    /^supervisor\/(runtime|config|validation|resources|store|regex)\//,
    'Files that are watched',
    'a file or folder that the configuration names cannot be read or watched now. What was read before stays in use.',
    'check path and permissions.',
  ),
  area(
    /^supervisor\/(tls|sockets|upstreams|dns|health|overload|profiling|tap|aws|cel)\//,
    'Sockets, hosts and certificates',
    'a socket, name, host or certificate could not be used as configured.',
    'the reason stands in the line.',
  ),
  area(
    /^workers\//,
    'Traffic',
    'a client, a host, a filter or a script did what the line says. The request or connection ends, the worker serves on.',
    'the line names the filter or cluster. Where it speaks of an exception, report it: that is a defect.',
  ),
  area(
    /^src\//,
    'The restarter and options',
    'the restarter or the command line has to deal with what the line says.',
    'see [options.md](options.md) and [systemd.md](systemd.md).',
  ),
];
