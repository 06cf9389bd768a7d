//! The catalogue of error codes, and the error that a request ends with.
//!
//! Owns the codes that leave the server, with their statuses (contract: "Error object", "Errors"), but those of single resources,
//! which the declarations add, and those of checks of single values, which `cms_schema` has. One place may replace a status.
//! It knows nothing of requests, storage or HTTP.

use cms_schema::ParamFailure;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Statuses of responses, by the names that HTTP gives them. Those of errors come with their codes; these are of successes,
/// of pages, of other protocols, and of places that replace the status of a code.
pub mod status {
    pub const OK: u16 = 200;
    pub const CREATED: u16 = 201;
    pub const ACCEPTED: u16 = 202;
    pub const MULTI_STATUS: u16 = 207;
    pub const MULTIPLE_CHOICES: u16 = 300;
    pub const MOVED_PERMANENTLY: u16 = 301;
    pub const FOUND: u16 = 302;
    pub const SEE_OTHER: u16 = 303;
    pub const NOT_MODIFIED: u16 = 304;
    pub const BAD_REQUEST: u16 = 400;
    pub const UNAUTHORIZED: u16 = 401;
    pub const FORBIDDEN: u16 = 403;
    pub const NOT_FOUND: u16 = 404;
    pub const METHOD_NOT_ALLOWED: u16 = 405;
    pub const CONFLICT: u16 = 409;
    pub const GONE: u16 = 410;
    pub const UNSUPPORTED_MEDIA_TYPE: u16 = 415;
    pub const TOO_MANY_REQUESTS: u16 = 429;
    pub const INTERNAL: u16 = 500;
    pub const NOT_IMPLEMENTED: u16 = 501;
    pub const UNAVAILABLE: u16 = 503;

    /// Whether a request with this status did what it was for.
    pub fn is_success(status: u16) -> bool {
        (OK..FOUND).contains(&status)
    }

    /// Whether a request with this status failed.
    pub fn is_error(status: u16) -> bool {
        status >= BAD_REQUEST
    }

    /// Whether it leads elsewhere.
    pub fn is_redirection(status: u16) -> bool {
        (MULTIPLE_CHOICES..BAD_REQUEST).contains(&status)
    }

    /// Whether it failed through a fault of the server.
    pub fn is_server_error(status: u16) -> bool {
        status >= INTERNAL
    }

    /// Whether the same request may be answered otherwise in a moment.
    pub fn is_temporary(status: u16) -> bool {
        matches!(status, UNAVAILABLE | TOO_MANY_REQUESTS)
    }
}

/// The reason why a parameter is refused that its endpoint does not have.
pub const UNKNOWN_PARAM: &str = "rest_unknown_param";

/// The HTTP status of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeStatus {
    /// Always this one.
    Fixed(u16),
    /// Always this one, and `data` is null.
    Bare(u16),
    /// 401 for an anonymous caller, 403 for a user (contract: "Authentication", 10).
    Denied,
}

macro_rules! catalogue {
    ($($variant:ident = $code:literal, $status:expr, $message:literal;)*) => {
        /// Every code that the server can answer: one variant for each of its own, one for those that are declared.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $code] $variant,)*
            /// See [`Code::declared`].
            Declared(&'static DeclaredCode),
        }

        impl Code {
            /// The server's own codes, in the order of the catalogue.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The machine code as clients read it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* Code::Declared(declared) => declared.code.as_str() }
            }

            /// The status rule of the code.
            pub fn status(self) -> CodeStatus {
                use CodeStatus::{Bare, Denied, Fixed};
                match self { $(Code::$variant => $status,)* Code::Declared(declared) => declared.status }
            }

            /// The sentence that is sent unless the place that fails knows a better one.
            pub fn message(self) -> &'static str {
                match self { $(Code::$variant => $message,)* Code::Declared(declared) => &declared.message }
            }

            /// The server's own code of this machine name.
            pub fn parse(name: &str) -> Option<Code> {
                match name { $($code => Some(Code::$variant),)* _ => None }
            }
        }
    };
}

/// A code that a declaration adds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DeclaredCode {
    code: String,
    status: CodeStatus,
    message: String,
}

impl Code {
    /// The failure of one parameter under a rule with this code.
    pub fn failure_of(self, name: &str) -> ParamFailure {
        let ApiError(rule) = ApiError::new(self);
        let data = json!({"status": rule.status});
        ParamFailure { name: name.to_owned(), message: rule.message, reason: Some(self.as_str()), data }
    }

    /// The code of a check that a single value failed.
    pub fn of_check(reason: &str) -> Code {
        Code::declared(reason, CodeStatus::Fixed(400), "A value does not fit its definition.")
    }

    /// The code of a declaration. Each one is kept as long as the program runs, so that a code stays a plain value; what
    /// is declared again after a reload is found.
    pub fn declared(code: &str, status: CodeStatus, message: &str) -> Code {
        static KNOWN: Mutex<Vec<&'static DeclaredCode>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&&DeclaredCode| (&*known.code, known.status, &*known.message) == (code, status, message);
        if let Some(found) = known.iter().find(same) {
            return Code::Declared(found);
        }
        let kept = DeclaredCode { code: code.to_owned(), status, message: message.to_owned() };
        let kept: &'static DeclaredCode = Box::leak(Box::new(kept));
        known.push(kept);
        Code::Declared(kept)
    }
}

catalogue! {
    MissingParam = "rest_missing_callback_param", Fixed(400), "Required parameters are absent.";
    InvalidParam = "rest_invalid_param", Fixed(400), "Some parameters do not fit their definition.";
    InvalidJson = "rest_invalid_json", Fixed(400), "The body is announced as JSON but cannot be read as JSON.";
    NoRoute = "rest_no_route", Fixed(404), "No route answers this address with this method.";
    Forbidden = "rest_forbidden", Denied, "You may not do this.";
    ForbiddenContext = "rest_forbidden_context", Denied, "The edit context is not open to you here.";
    ForbiddenParam = "rest_forbidden_param", Denied, "You may not use this parameter with this value.";
    ForbiddenField = "rest_forbidden_field", Denied, "You may not write one of these fields.";
    ForbiddenStatus = "rest_forbidden_status", Denied, "You may not ask for this status.";
    ForbiddenOrderby = "rest_forbidden_orderby", Denied, "You may not sort by this value.";
    ForbiddenWho = "rest_forbidden_who", Denied, "You may not list authors this way.";
    NotLoggedIn = "rest_not_logged_in", Fixed(401), "Nobody is logged in.";
    CannotView = "rest_cannot_view", Denied, "You may not see this.";
    CannotRead = "rest_cannot_read", Denied, "You may not read this.";
    CannotReadPost = "rest_cannot_read_post", Denied, "You may not read the record that this belongs to.";
    CannotCreate = "rest_cannot_create", Denied, "You may not create this kind of record.";
    CannotEdit = "rest_cannot_edit", Denied, "You may not edit this record.";
    CannotUpdate = "rest_cannot_update", Denied, "You may not update this.";
    CannotDelete = "rest_cannot_delete", Denied, "You may not delete this.";
    CannotEditOthers = "rest_cannot_edit_others", Denied, "You may not act in another author's name.";
    CannotPublish = "rest_cannot_publish", Denied, "You may not publish this kind of record.";
    CannotAssignSticky = "rest_cannot_assign_sticky", Denied, "You may not make records sticky.";
    CannotAssignTerm = "rest_cannot_assign_term", Denied, "You may not assign one of these terms.";
    CannotReadThemes = "rest_cannot_view_active_theme", Denied, "You may not see the active theme.";
    CannotViewThemes = "rest_cannot_view_themes", Denied, "You may not see the themes.";
    CannotReadStatus = "rest_cannot_read_status", Denied, "You may not see this state.";
    CannotReadTypes = "rest_cannot_read_type", Denied, "You may not see this type.";
    UserCannotView = "rest_user_cannot_view", Denied, "You may not see this user.";
    CannotCreateUser = "rest_cannot_create_user", Denied, "You may not create users.";
    CannotEditRoles = "rest_cannot_edit_roles", Denied, "You may not change the roles of this user.";
    UserCannotDelete = "rest_user_cannot_delete", Denied, "You may not delete this user.";
    UserInvalidId = "rest_user_invalid_id", Fixed(404), "There is no user with this id.";
    UserInvalidRole = "rest_user_invalid_role", Fixed(400), "There is no such role, or you may not give it.";
    UserExists = "rest_user_exists", Fixed(400), "The user exists already.";
    UserInvalidReassign = "rest_user_invalid_reassign", Fixed(400), "The user who would take over the content does not exist.";
    CustomCssMarkup = "rest_custom_css_illegal_markup", Fixed(400), "A style sheet may not end the element that it is in.";
    CustomCssType = "rest_custom_css_invalid_type", Fixed(400), "A style sheet is a text.";
    UserInvalidEmail = "rest_user_invalid_email", Fixed(400), "Another user has this e-mail address.";
    UserInvalidUsername = "rest_user_invalid_username", Fixed(400), "Logins hold letters, digits, spaces and . - _ @ only, and some names are reserved.";
    UserInvalidArgument = "rest_user_invalid_argument", Fixed(400), "The login name of a user cannot be changed.";
    UserInvalidSlug = "rest_user_invalid_slug", Fixed(400), "Another user has this slug.";
    UserInvalidPassword = "rest_user_invalid_password", Fixed(400), "Passwords may not be empty or hold a backslash.";
    EmptyUserNicename = "empty_user_nicename", Bare(500), "The login has no character for a name in URLs.";
    ExistingUserLogin = "existing_user_login", Bare(500), "Another user has this login.";
    ExistingUserEmail = "existing_user_email", Bare(500), "Another user has this e-mail address already.";
    EmptyUsername = "empty_username", Bare(401), "The user name is empty.";
    EmptyPassword = "empty_password", Bare(401), "The password is empty.";
    LastAdministrator = "rest_last_administrator", Fixed(409), "Somebody has to have this role: the last one keeps it.";
    PostInvalidId = "rest_post_invalid_id", Fixed(404), "There is no such record.";
    OriginalInvalid = "rest_original_invalid", Fixed(400), "Nobody has written this item yet: it is neither deleted nor has it revisions.";
    PostInvalidParent = "rest_post_invalid_parent", Fixed(404), "The parent record does not exist.";
    PostInvalidPageNumber = "rest_post_invalid_page_number", Fixed(400), "There are fewer pages than that.";
    PostIncorrectPassword = "rest_post_incorrect_password", Fixed(403), "This is not the password of the record.";
    PreviewInvalid = "rest_preview_invalid", Fixed(401), "This preview link is not for this record, or it has ended.";
    PostExists = "rest_post_exists", Fixed(400), "A record that exists cannot be created.";
    InvalidField = "rest_invalid_field", Fixed(400), "These fields cannot be combined.";
    InvalidAuthor = "rest_invalid_author", Fixed(400), "There is no such author.";
    EmptyContent = "empty_content", Fixed(400), "Title, content and excerpt are all empty.";
    OrderbyIncludeMissing = "rest_orderby_include_missing_include", Fixed(400), "Sorting by include needs include.";
    NoSearchTerm = "rest_no_search_term_defined", Fixed(400), "Sorting by relevance needs a search.";
    AlreadyTrashed = "rest_already_trashed", Fixed(410), "The record is in the trash already.";
    TrashNotSupported = "rest_trash_not_supported", Fixed(501), "This cannot go to the trash; delete it with force=true.";
    CannotDeleteStored = "rest_cannot_delete_stored", Fixed(500), "The record could not be deleted.";
    TermInvalid = "rest_term_invalid", Fixed(404), "There is no such term.";
    PostInvalidType = "rest_post_invalid_type", Fixed(400), "There is no such kind of records.";
    TermInvalidId = "rest_term_invalid_id", Fixed(400), "There is no such term.";
    TermExists = "term_exists", Fixed(400), "A term with this name and parent exists already.";
    DuplicateTermSlug = "duplicate_term_slug", Bare(500), "Another term has this slug.";
    EmptyTermName = "empty_term_name", Bare(500), "A term needs a name.";
    TaxonomyInvalid = "rest_taxonomy_invalid", Fixed(404), "There is no such taxonomy.";
    TaxonomyNotHierarchical = "rest_taxonomy_not_hierarchical", Fixed(400), "Terms of this taxonomy have no parents.";
    TypeInvalid = "rest_type_invalid", Fixed(404), "There is no such type.";
    StatusInvalid = "rest_status_invalid", Fixed(404), "There is no such status.";
    ThemeNotFound = "rest_theme_not_found", Fixed(404), "There is no such theme.";
    CommentInvalidId = "rest_comment_invalid_id", Fixed(404), "There is no such comment.";
    CommentInvalidPostId = "rest_comment_invalid_post_id", Fixed(403), "A comment needs a post.";
    CommentExists = "rest_comment_exists", Fixed(400), "A comment that exists cannot be created.";
    CommentTypeFixed = "rest_comment_invalid_type", Fixed(404), "The type of a comment cannot change.";
    CommentInvalidType = "rest_invalid_comment_type", Fixed(400), "A comment of this type cannot be created.";
    CommentInvalidAuthor = "rest_comment_invalid_author", Denied, "You may not set the author of a comment.";
    CommentInvalidAuthorIp = "rest_comment_invalid_author_ip", Denied, "You may not set the address of a comment's author.";
    CommentInvalidStatus = "rest_comment_invalid_status", Denied, "You may not set the status of a comment.";
    CommentLoginRequired = "rest_comment_login_required", Fixed(401), "Commenting needs a login here.";
    CommentClosed = "rest_comment_closed", Fixed(403), "Comments are closed.";
    CommentDraftPost = "rest_comment_draft_post", Fixed(403), "Unpublished records take no comments.";
    CommentTrashPost = "rest_comment_trash_post", Fixed(403), "Records in the trash take no comments.";
    CommentNotSupported = "rest_comment_not_supported_post_type", Fixed(403), "This kind of record takes no comments.";
    CommentAuthorRequired = "rest_comment_author_data_required", Fixed(400), "A comment needs its author's name and e-mail address.";
    CommentContentInvalid = "rest_comment_content_invalid", Fixed(400), "A comment needs text.";
    CommentAuthorInvalid = "rest_comment_author_invalid", Fixed(400), "There is no such author.";
    CommentDuplicate = "comment_duplicate", Fixed(409), "The same comment is there already.";
    CommentFlood = "comment_flood", Fixed(400), "Comments come too fast; wait a little.";
    UploadNoData = "rest_upload_no_data", Fixed(400), "The request brings no file.";
    UploadNoDisposition = "rest_upload_no_content_disposition", Fixed(400), "A body that is a file needs a Content-Disposition header with the file's name.";
    UploadInvalidDisposition = "rest_upload_invalid_disposition", Fixed(400), "Content-Disposition names no file; write: attachment; filename=\"tree.png\".";
    UploadHashMismatch = "rest_upload_hash_mismatch", Fixed(412), "The file is not the one that Content-MD5 was made of.";
    UploadRefusedBody = "rest_upload_sideload_error", Fixed(500), "A file of this type is not taken here, or it is not what its name says.";
    UploadRefusedPart = "rest_upload_unknown_error", Fixed(500), "A file of this type is not taken here, or it is not what its name says.";
    UploadTypeRefused = "rest_upload_unsupported_type", Fixed(415), "A file of this type is not taken here, or it is not what its name says.";
    UploadOtherType = "rest_upload_other_type", Fixed(415), "The new file is of another type than the one that it replaces.";
    UploadTooLarge = "rest_upload_file_too_big", Fixed(400), "The file is larger than this site takes.";
    UploadInvalidUrl = "rest_invalid_url", Fixed(400), "This is not the address of a picture that this server fetches.";
    FetchFailed = "http_request_failed", Fixed(500), "Nothing was received from the address.";
    FetchStatus = "http_404", Fixed(500), "There is no picture at the address.";
    UploadInvalidImage = "rest_upload_invalid_image", Fixed(400), "The file is no picture that can be read.";
    UploadInvalidDimensions = "rest_upload_invalid_dimensions", Fixed(400), "The picture has no width or no height.";
    UploadDimensionMismatch = "rest_upload_dimension_mismatch", Fixed(400), "The picture is not as large as this size requires.";
    FileElsewhere = "rest_sideload_attachment_not_in_uploads", Fixed(403), "The record's file is not stored here.";
    InvalidSubSizeFile = "rest_invalid_sub_size_file", Fixed(400), "No file of this name was added to the record.";
    CannotEditImage = "rest_cannot_edit_image", Denied, "You may not upload files, and so not edit pictures.";
    UnknownAttachment = "rest_unknown_attachment", Fixed(404), "The address belongs to no file of this record.";
    CannotEditFileType = "rest_cannot_edit_file_type", Fixed(400), "Files of this type cannot be edited.";
    ImageNotEdited = "rest_image_not_edited", Fixed(400), "Nothing was asked for: say what to do to the picture.";
    ImageCropFailed = "rest_image_crop_failed", Fixed(500), "The picture cannot be cut that way.";
    RevisionParentMismatch = "rest_revision_parent_id_mismatch", Fixed(404), "The revision belongs to another record.";
    SearchInvalidPageNumber = "rest_search_invalid_page_number", Fixed(400), "There are fewer pages than that.";
    RevisionInvalidPageNumber = "rest_revision_invalid_page_number", Fixed(400), "There are fewer pages than that.";
    RevisionInvalidOffset = "rest_revision_invalid_offset_number", Fixed(400), "There are fewer revisions than that.";
    AutosaveNoChanges = "rest_autosave_no_changes", Fixed(400), "The record holds this already.";
    NoAutosave = "rest_post_no_autosave", Fixed(404), "There is no autosave of this record.";
    BatchNotAllowed = "rest_batch_not_allowed", Fixed(400), "This route takes no part in batches.";
    InvalidPath = "parse_path_failed", Fixed(400), "The path of this part cannot be read.";
    CannotListAppPasswords = "rest_cannot_list_application_passwords", Denied, "You may not list these application passwords.";
    CannotReadAppPassword = "rest_cannot_read_application_password", Denied, "You may not read this application password.";
    CannotCreateAppPasswords = "rest_cannot_create_application_passwords", Denied, "You may not create application passwords here.";
    CannotEditAppPassword = "rest_cannot_edit_application_password", Denied, "You may not edit this application password.";
    CannotDeleteAppPasswords = "rest_cannot_delete_application_passwords", Denied, "You may not delete these application passwords.";
    CannotDeleteAppPassword = "rest_cannot_delete_application_password", Denied, "You may not delete this application password.";
    CannotIntrospect = "rest_cannot_introspect_app_password_for_non_authenticated_user", Denied, "Only the user can inspect the password in use.";
    NoAuthenticatedAppPassword = "rest_no_authenticated_app_password", Fixed(404), "This request was not made with an application password.";
    AppPasswordNotFound = "rest_application_password_not_found", Fixed(404), "There is no such application password.";
    AppPasswordEmptyName = "application_password_empty_name", Fixed(400), "An application password needs a name.";
    AppPasswordLimited = "rest_application_password_limited", Fixed(403), "The application password in use is not good for this.";
    AppPasswordsDisabled = "application_passwords_disabled", Fixed(501), "Application passwords are not available.";
    SecondFactorRequired = "rest_second_factor_required", Fixed(403), "This account needs a second factor, which is asked for on the pages of the site alone. Programs use application passwords.";
    AppPasswordsDisabledForUser = "application_passwords_disabled_for_user", Fixed(501), "Application passwords are not available for this user.";
    InvalidCredentials = "rest_invalid_credentials", Fixed(401), "The user name or the application password is not valid.";
    LoginUnknown = "rest_login_unknown", Fixed(403), "There is no account with this user name.";
    LoginUnknownEmail = "rest_login_unknown_email", Fixed(403), "There is no account with this e-mail address.";
    LoginWrongPassword = "rest_login_wrong_password", Fixed(403), "The password is wrong.";
    TokenMissing = "rest_token_missing", Fixed(403), "The request has no Authorization header.";
    TokenMalformed = "rest_token_malformed", Fixed(403), "The Authorization header has no token: send `Authorization: Bearer TOKEN`.";
    TokenInvalid = "rest_token_invalid", Fixed(403), "The token is not valid: it is wrong, has ended or was revoked.";
    UnlabelledJson = "rest_unsupported_media_type", Fixed(415), "The body is JSON, but its Content-Type is another: send `Content-Type: application/json`.";
    InvalidNonce = "rest_cookie_invalid_nonce", Fixed(403), "The nonce does not fit this session.";
    NoResponse = "no_response", Fixed(404), "No page was found there.";
    FormMediaType = "rest_form_media_type", Fixed(415), "Send the form as `multipart/form-data`.";
    FormPlace = "rest_form_place_missing", Fixed(400), "The form does not say which part of the page shows it.";
    NoBlocks = "vip-block-data-api-no-blocks", Fixed(400), "The content has no blocks.";
    BlockFilters = "vip-block-data-api-invalid-params", Fixed(400), "Only one of include and exclude can be given.";
    NoAddress = "rest_no_address", Fixed(404), "Nothing on this site has this address.";
    PreviewNonce = "wp_die", Fixed(403), "This preview is for somebody else, or its address has ended.";
    RedirectInvalid = "rest_redirect_invalid", Fixed(400), "A path or a target is none.";
    RedirectLoop = "rest_redirect_loop", Fixed(400), "The redirect leads in a circle, or to another one.";
    OembedInvalidUrl = "oembed_invalid_url", Fixed(404), "Nothing on this site has this address.";
    SettingInvalidDefaultCategory = "rest_invalid_default_category", Fixed(400), "The default category must be a category.";
    JsonpDisabled = "rest_callback_disabled", Fixed(400), "JSONP is switched off here.";
    JsonpInvalid = "rest_callback_invalid", Fixed(400), "The callback name may hold letters, digits, _ and . only.";
    RecordInvalidId = "rest_invalid_id", Fixed(404), "There is no record with this id.";
    DuplicateValue = "rest_duplicate_value", Fixed(409), "Another record has this value already.";
    ProposalNoChanges = "rest_proposal_no_changes", Fixed(400), "The change names nothing that would differ from the record as it is.";
    ReviewClosed = "rest_review_closed", Fixed(409), "This change waits no longer: it was published, sent back or withdrawn.";
    ReviewOutdated = "rest_review_outdated", Fixed(409), "The proposed change or the record has changed since it was read: read the review again, and decide then.";
    ReviewsFull = "rest_too_many_reviews", Fixed(409), "Too many changes wait for a review: a person has to decide about some of them first.";
    PreconditionFailed = "rest_precondition_failed", Fixed(412), "The record has changed since you read it.";
    PayloadTooLarge = "rest_payload_too_large", Fixed(413), "The request is larger than this server accepts.";
    UriTooLong = "rest_uri_too_long", Fixed(414), "The address is longer than this server accepts.";
    HeadTooLarge = "rest_head_too_large", Fixed(431), "The headers of the request are larger than this server accepts.";
    TooManyRequests = "rest_too_many_requests", Fixed(429), "Too many requests; wait a little.";
    RequestTimeout = "rest_request_timeout", Fixed(408), "The request took too long to arrive.";
    BadRequest = "rest_bad_request", Fixed(400), "The request cannot be read.";
    Cancelled = "rest_cancelled", Fixed(409), "The client has called the request off.";
    Internal = "internal_server_error", Fixed(500), "Something went wrong on the server. The log knows the request by its id.";
    Busy = "rest_busy", Fixed(503), "The server has too much to write at the moment; try again.";
    ReadTimeout = "rest_read_timeout", Fixed(503), "Reading took longer than this server allows; ask for less at a time.";
    StorageReadOnly = "rest_storage_unavailable", Fixed(503), "The server cannot write at the moment.";
    OutcomeUnknown = "rest_outcome_unknown", Fixed(503),
        "The database did not say whether the change was made; read before you send it again.";
}

/// Faults of XML-RPC that belong to no error of the catalogue: the protocol's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlRpcFault {
    NotWellFormed,
    Encoding,
    TooLarge,
    Recursion,
    UnknownMethod,
    InvalidParams,
    TooFewParams,
    OtherParams,
    Credentials,
}

impl XmlRpcFault {
    /// The number and the sentence that are sent.
    pub fn parts(self) -> (i64, &'static str) {
        match self {
            XmlRpcFault::NotWellFormed => (-32700, "The call is not well-formed XML-RPC."),
            XmlRpcFault::Encoding => (-32701, "Calls have to be UTF-8 text."),
            XmlRpcFault::TooLarge => (-32600, "The call holds more than this server reads."),
            XmlRpcFault::Recursion => (-32600, "A call of many cannot hold another one."),
            XmlRpcFault::UnknownMethod => (-32601, "There is no method of this name."),
            XmlRpcFault::InvalidParams => (-32602, "A parameter has another type than the method takes."),
            XmlRpcFault::TooFewParams => (400, "The method takes more parameters."),
            XmlRpcFault::OtherParams => (400, "The method takes other parameters."),
            XmlRpcFault::Credentials => (403, "The user name or the password is wrong."),
        }
    }
}

/// A request's failure, as the error object shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError(Box<ErrorContent>);

/// The content of an error; behind a pointer, because results carry errors far more rarely than values.
#[derive(Clone, Debug, PartialEq)]
struct ErrorContent {
    code: Code,
    status: u16,
    message: String,
    /// Members of `data` beside `status`; `None` makes `data` null.
    data: Option<Map<String, Value>>,
    additional: Vec<ApiError>,
    /// Seconds after which another attempt is worthwhile.
    retry_after: Option<i64>,
}

/// Refuses where a condition holds.
///
/// # Errors
/// It holds.
pub fn refuse_if(refused: bool, code: Code) -> Result<(), ApiError> {
    if refused { Err(ApiError::new(code)) } else { Ok(()) }
}

impl ApiError {
    /// An error with the catalogue's status and sentence. A [`CodeStatus::Denied`] code counts as an anonymous caller's
    /// (401); use [`ApiError::denied`] where the caller is known.
    pub fn new(code: Code) -> Self {
        let status = match code.status() {
            CodeStatus::Fixed(status) | CodeStatus::Bare(status) => status,
            CodeStatus::Denied => 401,
        };
        let bare = matches!(code.status(), CodeStatus::Bare(_));
        ApiError(Box::new(ErrorContent {
            code,
            status,
            message: code.message().to_owned(),
            data: (!bare).then(Map::new),
            additional: Vec::new(),
            retry_after: match code {
                Code::Busy
                | Code::ReadTimeout
                | Code::StorageReadOnly
                | Code::OutcomeUnknown
                | Code::TooManyRequests => Some(1),
                _ => None,
            },
        }))
    }

    /// A refusal: 401 for an anonymous caller, 403 for a user.
    pub fn denied(code: Code, logged_in: bool) -> Self {
        let mut error = ApiError::new(code);
        if logged_in && code.status() == CodeStatus::Denied {
            error.0.status = 403;
        }
        error
    }

    /// `rest_missing_callback_param`: every missing name at once.
    pub fn missing(names: Vec<String>) -> Self {
        let message = format!("Required parameters are absent: {}.", names.join(", "));
        ApiError::new(Code::MissingParam).with_message(message).with("params", json!(names))
    }

    /// `rest_invalid_param`: every failing name with its sentence, and the machine-readable reason where there is one.
    pub fn invalid(failures: Vec<ParamFailure>) -> Self {
        let names: Vec<&str> = failures.iter().map(|f| f.name.as_str()).collect();
        let message = format!("Parameters do not fit their definition: {}.", names.join(", "));
        let mut params = Map::new();
        let mut details = Map::new();
        for failure in &failures {
            params.insert(failure.name.clone(), json!(failure.message));
            if let Some(reason) = failure.reason {
                details.insert(
                    failure.name.clone(),
                    json!({"code": reason, "message": failure.message, "data": failure.data}),
                );
            }
        }
        ApiError::new(Code::InvalidParam)
            .with_message(message)
            .with("params", Value::Object(params))
            .with("details", Value::Object(details))
    }

    /// An error that passes within so many seconds.
    pub fn wait(code: Code, seconds: i64) -> Self {
        let mut error = ApiError::new(code);
        error.0.retry_after = Some(seconds.max(1));
        error
    }

    /// The headers that go with the error.
    pub fn headers(&self) -> Vec<(String, String)> {
        self.0.retry_after.map(|seconds| ("Retry-After".to_owned(), seconds.to_string())).into_iter().collect()
    }

    /// One parameter that fails a rule with a code of its own.
    pub fn invalid_for(name: &str, code: Code) -> Self {
        ApiError::invalid(vec![code.failure_of(name)])
    }

    /// One failing parameter that a later stage found.
    pub fn invalid_one(name: &str, message: impl Into<String>) -> Self {
        ApiError::invalid(vec![ParamFailure {
            name: name.to_owned(),
            message: message.into(),
            reason: None,
            data: Value::Null,
        }])
    }

    /// Replaces the sentence.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Replaces the status, where a declaration (a dialect) rules so.
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = status;
        self.0.data.get_or_insert_with(Map::new);
        self
    }

    /// Whether callers are refused so for what they may not do.
    pub fn is_denial(&self) -> bool {
        self.0.code.status() == CodeStatus::Denied
    }

    /// Names the capability that the caller lacks.
    pub fn lacking(mut self, capability: &str) -> Self {
        self.0.message = format!("{} The capability `{capability}` is missing.", self.0.message);
        self.with("capability", json!(capability))
    }

    /// Adds a member to `data`.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.0.data.get_or_insert_with(Map::new).insert(key.to_owned(), value);
        self
    }

    /// Makes it a fault of the server, with nothing in `data`.
    pub fn bare(mut self) -> Self {
        self.0.status = 500;
        self.without_data()
    }

    /// Makes `data` null.
    pub fn without_data(mut self) -> Self {
        self.0.data = None;
        self
    }

    /// Adds an entry of `additional_errors`.
    pub fn and(mut self, other: ApiError) -> Self {
        self.0.additional.push(other);
        self
    }

    /// The machine code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The error object of the contract.
    pub fn body(&self) -> Value {
        let data = match &self.0.data {
            None => Value::Null,
            Some(extra) => {
                let mut data = Map::new();
                data.insert("status".into(), json!(self.0.status));
                data.extend(extra.clone());
                Value::Object(data)
            }
        };
        let mut body = Map::new();
        body.insert("code".into(), json!(self.0.code.as_str()));
        body.insert("message".into(), json!(self.0.message));
        body.insert("data".into(), data);
        if !self.0.additional.is_empty() {
            let list = self.0.additional.iter().map(ApiError::body).collect();
            body.insert("additional_errors".into(), Value::Array(list));
        }
        Value::Object(body)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.0.code.as_str(), self.0.status, self.0.message)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_parse_back() {
        for (i, code) in Code::ALL.iter().enumerate() {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert!(!Code::ALL[..i].iter().any(|c| c.as_str() == code.as_str()), "{}", code.as_str());
        }
    }

    #[test]
    fn a_declared_code_is_kept_once() {
        let declared = |message| Code::declared("rest_test_only", CodeStatus::Fixed(418), message);
        let code = declared("It is a teapot.");
        assert_eq!(
            (code.as_str(), code.status(), code.message()),
            ("rest_test_only", CodeStatus::Fixed(418), "It is a teapot.")
        );
        let (Code::Declared(first), Code::Declared(again)) = (code, declared("It is a teapot.")) else {
            panic!("{code:?} is declared");
        };
        assert!(std::ptr::eq(first, again));
        assert_ne!(code, declared("It is a kettle."));
    }

    #[test]
    fn the_error_object_has_the_documented_shape() {
        let error = ApiError::denied(Code::Forbidden, true).and(ApiError::new(Code::NoRoute).without_data());
        assert_eq!(
            error.body(),
            json!({"code": "rest_forbidden", "message": "You may not do this.", "data": {"status": 403},
                "additional_errors": [{"code": "rest_no_route",
                    "message": "No route answers this address with this method.", "data": null}]})
        );
    }
}
