export { packageVersion } from '../server/version';
