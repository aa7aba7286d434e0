// Original file: proto/registration.proto


export interface InfoRequest {
}

export interface InfoRequest__Output {
}
