// Original file: proto/registration.proto


export interface RegistrationStatusResponse {
}

export interface RegistrationStatusResponse__Output {
}
