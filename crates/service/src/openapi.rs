//! Calls and their description in one: what is served is documented, and what is documented is served.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::api::Refusal;
use crate::http::Shared;
use crate::personalizer::VERSIONS;

type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A body: its media type and shape.
type Content = (&'static str, MakeSchema);

const NAME: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$";
pub(crate) const JSON: &str = "application/json";

/// A call as programs are told about it.
pub(crate) struct Call {
    method: (&'static str, MethodFilter),
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: Option<MakeSchema>,
    body: Option<Content>,
    answers: Vec<(u16, &'static str, Option<Content>)>,
    refusals: Vec<u16>,
    /// Whether everybody may call it.
    open: bool,
}

macro_rules! methods {
    ($($name:ident $filter:ident;)*) => {$(
        pub(crate) fn $name(path: &'static str, id: &'static str, summary: &'static str) -> Self {
            Self::new((stringify!($name), MethodFilter::$filter), path, id, summary)
        }
    )*};
}

impl Call {
    methods! { get GET; put PUT; post POST; patch PATCH; delete DELETE; }

    fn new(
        method: (&'static str, MethodFilter),
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        // A page of another site; no token; a disk that fails.
        let mut refusals = vec![400, 401, 503];
        if path.contains("{name}") {
            refusals.push(404);
        }
        Self {
            method,
            path,
            id,
            summary,
            query: None,
            body: None,
            answers: Vec::new(),
            refusals,
            open: false,
        }
    }

    /// Its body is JSON of this type.
    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        self.takes_raw::<T>(JSON)
    }

    /// Its body is of this media type.
    pub(crate) fn takes_raw<T: JsonSchema>(mut self, media: &'static str) -> Self {
        self.body = Some((media, schema_of::<T>));
        self.refusals.extend([413, 422]);
        self
    }

    /// What stands behind the question mark.
    pub(crate) fn asks<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self.refusals.push(422);
        self
    }

    /// It answers with JSON of this type.
    pub(crate) fn gives<T: JsonSchema>(self, status: u16, when: &'static str) -> Self {
        self.gives_raw::<T>(status, when, JSON)
    }

    /// It answers with something of this media type.
    pub(crate) fn gives_raw<T: JsonSchema>(
        mut self,
        status: u16,
        when: &'static str,
        media: &'static str,
    ) -> Self {
        self.answers.push((status, when, Some((media, schema_of::<T>))));
        self
    }

    /// It answers without a body.
    pub(crate) fn gives_nothing(mut self, when: &'static str) -> Self {
        self.answers.push((204, when, None));
        self
    }

    /// It may be refused for other reasons than calls of its kind are.
    pub(crate) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.refusals.extend(statuses);
        self
    }

    /// No token is asked for, and nothing is refused.
    pub(crate) fn open(mut self) -> Self {
        (self.open, self.refusals) = (true, Vec::new());
        self
    }

    fn described(&self, generator: &mut SchemaGenerator) -> Value {
        let mut content = |(media, schema): Content| json!({media: {"schema": schema(generator)}});
        let mut responses = Map::new();
        for (status, when, body) in &self.answers {
            let mut response = json!({"description": when});
            if let Some(body) = body {
                response["content"] = content(*body);
            }
            responses.insert(status.to_string(), response);
        }
        for status in &self.refusals {
            let refused = content((JSON, schema_of::<Refusal>));
            responses
                .insert(status.to_string(), json!({"description": refusal(*status), "content": refused}));
        }
        let mut described = json!({"operationId": self.id, "summary": self.summary, "responses": responses});
        if let Some(body) = self.body {
            described["requestBody"] = json!({"required": true, "content": content(body)});
        }
        let parameters = self.parameters(generator);
        if !parameters.is_empty() {
            described["parameters"] = parameters.into();
        }
        if self.open {
            described["security"] = json!([]);
        }
        described
    }

    fn parameters(&self, generator: &mut SchemaGenerator) -> Vec<Value> {
        let mut parameters = Vec::new();
        for part in self.path.split('{').skip(1).filter_map(|part| part.split('}').next()) {
            let schema = match part {
                "name" => json!({"type": "string", "pattern": NAME}),
                "version" => json!({"enum": VERSIONS}),
                _ => json!({"type": "string", "minLength": 1}),
            };
            let example = match part {
                "name" => "news",
                "event" => "visit-1",
                _ => VERSIONS[0],
            };
            parameters.push(
                json!({"name": part, "in": "path", "required": true, "schema": schema, "example": example}),
            );
        }
        // The type's own schema, which the generator keeps beside those of bodies.
        let query = self.query.map(|schema| schema(generator).to_value());
        let named = query.as_ref().and_then(|query| query["$ref"].as_str()?.rsplit('/').next());
        let kept = named.and_then(|name| generator.definitions_mut().remove(name));
        let fields = kept.as_ref().and_then(|schema| schema["properties"].as_object());
        for (name, schema) in fields.into_iter().flatten() {
            parameters.push(json!({"name": name, "in": "query", "schema": schema}));
        }
        parameters
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "not JSON, too slow, or from a page of another site; nothing has changed",
        401 => "without a token that allows it; nothing has changed",
        404 => "there is no such bandit, decision or call; nothing has changed",
        409 => "it contradicts what is there; nothing has changed",
        413 => "the body is too large; nothing has changed",
        422 => "something in it is wrong, which is said; nothing has changed",
        _ => "not now, for a reason that is said; try again",
    }
}

/// Calls, with what serves them.
pub(crate) struct Calls {
    guarded: Router<Shared>,
    open: Router<Shared>,
    paths: Map<String, Value>,
    generator: SchemaGenerator,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        Self {
            guarded: Router::new(),
            open: Router::new(),
            paths: Map::new(),
            generator: settings.into_generator(),
        }
    }

    /// Adds a call.
    pub(crate) fn add<T: 'static>(mut self, call: &Call, handler: impl Handler<T, Shared>) -> Self {
        let path = self.paths.entry(call.path).or_insert_with(|| json!({}));
        path[call.method.0] = call.described(&mut self.generator);
        let router = if call.open { &mut self.open } else { &mut self.guarded };
        *router = std::mem::take(router).route(call.path, on(call.method.1, handler));
        self
    }

    /// The calls that need a token where there is one, the others, and the document, which is itself one of the latter.
    pub(crate) fn finish(mut self, token: bool) -> (Router<Shared>, Router<Shared>, String) {
        let schemas = self.generator.take_definitions(true);
        let security = if token { json!([{"bearer": []}, {"key": []}]) } else { json!([]) };
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "truenorth",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Decisions that start from old logs without letting their bias decide."
            },
            "security": security,
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {
                    "bearer": {"type": "http", "scheme": "bearer"},
                    "key": {"type": "apiKey", "in": "header", "name": "Ocp-Apim-Subscription-Key"}
                }
            }
        });
        (self.guarded, self.open, document.to_string())
    }
}
