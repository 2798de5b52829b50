/** The line layout without `--log-format`. */
export const defaultLogFormat = '[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v';
