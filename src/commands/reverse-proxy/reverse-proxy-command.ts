/** `sluice reverse-proxy`: a server from one line, and the bootstrap that stands for that line. */
import { stringify } from 'yaml';
import { type Command, usageError } from '../command.ts';
import { parseReverseProxyArguments, REVERSE_PROXY_HELP } from './reverse-proxy-arguments.ts';
import { reverseProxyBootstrap } from './reverse-proxy-bootstrap.ts';

const WRONG_USE = 2;

/** Options by which a server says how it takes part in hot restarts; without one it does not. */
const HOT_RESTART = /^--(disable-hot-restart|base-id|use-dynamic-base-id|restart-epoch)(=|$)/;

export const reverseProxyCommand: Command = {
  name: 'reverse-proxy',
  help: REVERSE_PROXY_HELP,
  run(argv, output) {
    const words = parseReverseProxyArguments(argv);
    if (typeof words === 'string') {
      output.error(usageError(reverseProxyCommand, words));
      return Promise.resolve(WRONG_USE);
    }
    const text = stringify(reverseProxyBootstrap(words), { lineWidth: 0 });
    if (words.isPrinting) {
      output.out(text);
      return Promise.resolve(0);
    }
    const hotRestart = words.serverOptions.some((word) => HOT_RESTART.test(word));
    return Promise.resolve({
      serve: [
        '--config-yaml',
        text,
        ...(hotRestart ? [] : ['--disable-hot-restart']),
        ...words.serverOptions,
      ],
    });
  },
};
