/** `sluice explain-field`: what a field of the API means, by its path. */
import { readFieldComments } from '../../../shared/api/descriptor.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { type Command, usageError } from '../command.ts';
import { fieldPage } from './field-page.ts';
import { findField } from './find-field.ts';

const WRONG_USE = 2;

export const explainFieldCommand: Command = {
  name: 'explain-field',
  help: `usage: sluice explain-field PATH

Says what a field of a bootstrap means, its type, its default and its rules, from the API's own comments.
PATH begins at the bootstrap, or at a message by its name or @type:

  static_resources.clusters.connect_timeout
  Cluster.lb_policy
  HttpConnectionManager.stat_prefix
  envoy.extensions.filters.http.router.v3.Router

exit code: 0 explained, 1 there is no such field, 2 the words of the command are wrong
`,
  run(argv, output) {
    const [path = '', ...rest] = argv;
    if (path === '' || path.startsWith('-') || rest.length > 0) {
      const reason = rest.length > 0 ? `unknown word ${rest[0]}` : 'one path is expected';
      output.error(usageError(explainFieldCommand, reason));
      return Promise.resolve(WRONG_USE);
    }
    const found = findField(new ApiCatalog(), path);
    if (typeof found === 'string') {
      output.error(`sluice explain-field: ${found}\n`);
      return Promise.resolve(1);
    }
    output.out(fieldPage(found, readFieldComments()));
    return Promise.resolve(0);
  },
};
