export { type ListenAddress, parseListen } from './listen';
export { type ControlOptions, ControlServer } from './server/control-server';
