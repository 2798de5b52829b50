import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, type Problem } from '../../../../supervisor/config/problem.ts';
import { renderReport } from '../../../../supervisor/validation/report.ts';

const misspelt: Problem = {
  severity: 'error',
  place: at(at(at(undefined, 'admin'), 'lists'), 2),
  message: '100% wrong\nin two lines',
  rule: 'unknown_field',
  suggestion: 'did you mean list?',
  position: { source: 'a,b: c.yaml', line: 3, column: 7 },
};
const general: Problem = {
  severity: 'warning',
  place: undefined,
  message: 'going away',
  rule: 'deprecated',
};
const result = { configPath: 'a.yaml', problems: [misspelt, general] };

describe('The report of a validation', () => {
  it('is in JSON one object with every key of every problem', () => {
    assert.deepEqual(JSON.parse(renderReport('json', result)), {
      valid: false,
      config_path: 'a.yaml',
      problems: [
        {
          severity: 'error',
          file: 'a,b: c.yaml',
          line: 3,
          column: 7,
          field: 'admin.lists[2]',
          rule: 'unknown_field',
          message: '100% wrong\nin two lines',
          suggestion: 'did you mean list?',
        },
        {
          severity: 'warning',
          file: null,
          line: null,
          column: null,
          field: '',
          rule: 'deprecated',
          message: 'going away',
          suggestion: null,
        },
      ],
    });
  });

  it('calls a configuration with warnings alone valid', () => {
    const text = renderReport('json', { configPath: '', problems: [general] });
    assert.equal((JSON.parse(text) as { valid: boolean }).valid, true);
  });

  it('is in SARIF a log with a rule of each kind and a region of each place', () => {
    const log = JSON.parse(renderReport('sarif', result)) as {
      version: string;
      runs: [{ tool: { driver: { rules: unknown } }; results: unknown[] }];
    };
    assert.equal(log.version, '2.1.0');
    const [run] = log.runs;
    assert.deepEqual(run.tool.driver.rules, [{ id: 'unknown_field' }, { id: 'deprecated' }]);
    assert.deepEqual(run.results, [
      {
        ruleId: 'unknown_field',
        level: 'error',
        message: { text: '100% wrong\nin two lines (did you mean list?)' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'a,b:%20c.yaml' },
              region: { startLine: 3, startColumn: 7 },
            },
            logicalLocations: [{ fullyQualifiedName: 'admin.lists[2]' }],
          },
        ],
      },
      {
        ruleId: 'deprecated',
        level: 'warning',
        message: { text: 'going away' },
        locations: [{}],
      },
    ]);
  });

  it('is for GitHub one escaped command per problem', () => {
    assert.equal(
      renderReport('github', result),
      '::error file=a%2Cb%3A c.yaml,line=3,col=7,title=unknown_field::admin.lists[2]: ' +
        '100%25 wrong%0Ain two lines (did you mean list?)\n' +
        '::warning title=deprecated::going away\n',
    );
  });
});
