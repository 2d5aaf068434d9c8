#include "llm/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/file_system.h"
#include "llm/event_stream.h"
#include "llm/recording_chat_model.h"
#include "llm/replay_chat_model.h"
#include "llm/scripted_chat_model.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ChatRequest Question(const std::string& text) {
  ChatRequest request;
  request.messages = {{ChatRole::kSystem, "be brief"}, {ChatRole::kUser, text}};
  request.seed = 0xffff'ffff'ffff'fff1;
  request.temperature = 0.1;
  return request;
}

// Answers with the question's length; questions that begin with "!" fail.
Result<ChatReply> Echo(const ChatRequest& request) {
  const std::string& text = request.messages.back().text;
  if (text[0] == '!') {
    return Error(ErrorCode::kTimeout, "too slow: " + text);
  }
  ChatReply reply;
  reply.text = "\"" + text + "\"\n";
  reply.end = text.size() % 2 == 0 ? ChatReply::End::kStop : ChatReply::End::kLength;
  reply.tokens.prompt = static_cast<int64_t>(text.size());
  reply.tokens.completion = 3;
  reply.dollars = 0.1;
  return reply;
}

std::unique_ptr<ChatModel> EchoModel() {
  return std::make_unique<ScriptedChatModel>(&Echo);
}

void ExpectSame(const Result<ChatReply>& a, const Result<ChatReply>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) {
    EXPECT_EQ(a.error().code(), b.error().code());
    EXPECT_EQ(a.error().message(), b.error().message());
    return;
  }
  EXPECT_EQ(a->text, b->text);
  EXPECT_EQ(a->end, b->end);
  EXPECT_EQ(a->tokens.prompt, b->tokens.prompt);
  EXPECT_EQ(a->tokens.completion, b->tokens.completion);
  EXPECT_EQ(a->dollars, b->dollars);
}

struct Recording {
  const TemporaryDirectory folder = *TemporaryDirectory::Create("recording");
  const fs::path file = folder.path() / "exchanges.jsonl";

  void Record(const std::vector<std::string>& questions) {
    auto model = RecordingChatModel::Open(EchoModel(), file);
    ASSERT_TRUE(model) << model.error().message();
    for (const std::string& question : questions) {
      ExpectSame((*model)->Complete(Question(question)), Echo(Question(question)));
    }
  }
  std::string Text() const { return *ReadFile(file); }
};

TEST(ReplayChatModel, AnswersExactlyWhatWasRecorded) {
  Recording recording;
  const std::vector<std::string> questions = {"one", "!two", "three \u00fc \x01 \"\\", "one"};
  recording.Record(questions);
  auto replay = ReplayChatModel::Open(recording.file);
  ASSERT_TRUE(replay) << replay.error().message();
  EXPECT_EQ((*replay)->name(), "scripted");
  for (const std::string& question : questions) {
    ExpectSame((*replay)->Complete(Question(question)), Echo(Question(question)));
  }
  const auto beyond = (*replay)->Complete(Question("five"));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(beyond.error().message(), HasSubstr("all 4 exchanges were replayed"));
}

TEST(ReplayChatModel, NamesTheFirstDifferenceOfARequest) {
  Recording recording;
  recording.Record({"one", "two"});
  auto replay = ReplayChatModel::Open(recording.file);
  ASSERT_TRUE(replay);
  const auto difference = [&](const ChatRequest& request) {
    const auto reply = (*replay)->Complete(request);
    EXPECT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
    const std::string prefix = recording.file.string() + ": exchange 1: not the recorded request: ";
    EXPECT_EQ(reply.error().message().substr(0, prefix.size()), prefix);
    return reply.error().message().substr(prefix.size());
  };
  EXPECT_EQ(difference(Question("onE")),
            "message 2 (user) differs at byte 2: recorded \"one\", asked \"onE\"");
  ChatRequest request = Question("one");
  request.messages[0].role = ChatRole::kUser;
  EXPECT_EQ(difference(request), "message 1 is the user's, recorded as the system's");
  request = Question("one");
  request.messages.push_back({ChatRole::kUser, "more"});
  EXPECT_EQ(difference(request), "3 messages, recorded 2");
  request = Question("one");
  request.max_tokens = 7;
  EXPECT_EQ(difference(request), "max_tokens is 7, recorded 1024");
  request = Question("one");
  request.temperature = 0.2;
  EXPECT_EQ(difference(request), "temperature is 0.2, recorded 0.1");
  request = Question("one");
  request.seed = 5;
  EXPECT_EQ(difference(request), "seed is 5, recorded 18446744073709551601");
  request = Question("one");
  request.json_schema = "{}";
  EXPECT_EQ(difference(request), "json_schema differs at byte 0: recorded \"\", asked \"{}\"");
  request = Question("one");
  request.time_limit = std::chrono::milliseconds(1);  // does not decide the answer
  EXPECT_TRUE((*replay)->Complete(request));
}

TEST(ReplayChatModel, ATextThatIsNotUtf8IsReplayed) {
  Recording recording;
  auto model = RecordingChatModel::Open(
      std::make_unique<ScriptedChatModel>(std::deque<std::string>{"fine"}), recording.file);
  ASSERT_TRUE((*model)->Complete(Question("caf\xe9")));
  model = Error(ErrorCode::kInternal, "closed");
  auto replay = ReplayChatModel::Open(recording.file);
  EXPECT_TRUE((*replay)->Complete(Question("caf\xe9")));
}

TEST(RecordingChatModel, GoesOnWhereItEnded) {
  Recording recording;
  recording.Record({"one"});
  recording.Record({"two", "three"});
  auto replay = ReplayChatModel::Open(recording.file);
  for (const char* question : {"one", "two", "three"}) {
    EXPECT_TRUE((*replay)->Complete(Question(question))) << question;
  }
}

TEST(RecordingChatModel, ALineThatWasCutOffAnywhereIsDropped) {
  Recording recording;
  recording.Record({"one", "two"});
  const std::string whole = recording.Text();
  const size_t header = whole.find('\n') + 1;
  const size_t first = whole.find('\n', header) + 1;
  for (size_t cut = 0; cut < whole.size(); cut += cut < header ? 1 : 37) {
    ASSERT_TRUE(WriteFileAtomically(recording.file, whole.substr(0, cut)));
    recording.Record({cut < first ? "one" : "two", "three"});
    auto replay = ReplayChatModel::Open(recording.file);
    ASSERT_TRUE(replay) << cut;
    for (const char* question : {"one", "two", "three"}) {
      if (cut < first && question == std::string("two")) {
        continue;
      }
      EXPECT_TRUE((*replay)->Complete(Question(question))) << cut << question;
    }
  }
}

TEST(RecordingChatModel, RefusesAFileThatIsNoneAndLeavesItAlone) {
  Recording recording;
  for (const std::string text :
       {"hello", "hello\n", "{}\n", "{\"format\":\"optiml-exchanges\"}\n"}) {
    ASSERT_TRUE(WriteFileAtomically(recording.file, text));
    const auto model = RecordingChatModel::Open(EchoModel(), recording.file);
    ASSERT_FALSE(model) << text;
    EXPECT_EQ(model.error().code(), ErrorCode::kParse);
    EXPECT_EQ(recording.Text(), text);
    EXPECT_FALSE(ReplayChatModel::Open(recording.file));
  }
  ASSERT_TRUE(WriteFileAtomically(recording.file,
                                  R"({"format":"optiml-exchanges","version":1,"model":"x"})"
                                  "\n"));
  const auto other = RecordingChatModel::Open(EchoModel(), recording.file);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("holds exchanges with x, not with scripted"));
  EXPECT_EQ(ReplayChatModel::Open("/nowhere/x").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(RecordingChatModel::Open(EchoModel(), "/nowhere/x").error().code(),
            ErrorCode::kNotFound);
}

TEST(RecordingChatModel, IsWrittenByOneAtATime) {
  Recording recording;
  const auto first = RecordingChatModel::Open(EchoModel(), recording.file);
  ASSERT_TRUE(first);
  const auto second = RecordingChatModel::Open(EchoModel(), recording.file);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
}

TEST(RecordingChatModel, AFullDiskIsAnErrorAndTakesTheHalfLineBack) {
  Recording recording;
  recording.Record({"one"});
  const std::string before = recording.Text();
  int64_t lost = 0;
  auto model = RecordingChatModel::Open(EchoModel(), recording.file,
                                        [&](const TokenUse& tokens, double) -> Result<void> {
                                          lost += tokens.prompt + tokens.completion;
                                          return {};
                                        });
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{before.size() + 50, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  const auto reply = (*model)->Complete(Question("two"));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kIo);
  EXPECT_EQ(recording.Text(), before);
  EXPECT_EQ(lost, 6);  // the reply that is not handed on was paid for
  EXPECT_TRUE((*model)->Complete(Question("two")));
}

TEST(ParseExchange, RefusesWhatIsNone) {
  Exchange exchange;
  exchange.request = Question("one");
  const std::string line = FormatExchange(exchange);
  ASSERT_TRUE(ParseExchange(line));
  std::string changed = line;
  changed.replace(changed.find("one"), 3, "two");
  const auto message = [](const std::string& text) {
    const auto parsed = ParseExchange(text);
    return parsed ? "" : parsed.error().message();
  };
  EXPECT_THAT(message(changed), HasSubstr("the hash is not that of its request"));
  EXPECT_THAT(message(line.substr(0, 100)), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{}"), HasSubstr("the request lacks"));
  changed = line;
  changed.replace(changed.find("\"user\""), 6, "\"uzer\"");
  EXPECT_THAT(message(changed), HasSubstr("unknown role \"uzer\""));
  changed = line;
  changed.replace(changed.find("\"reply\""), 7, "\"raply\"");
  EXPECT_THAT(message(changed), HasSubstr("neither a reply nor an error"));
}

TEST(EventStream, PutsEventsTogetherHoweverTheBytesCome) {
  const std::string text =
      ":comment\r\nevent: x\ndata: one\ndata:two\r\n\r\nid: 3\n\ndata\n\ndata: {\"a\":1}\n\ndata: "
      "cut";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    std::vector<std::string> events;
    EventStream stream([&](const std::string& data) { events.push_back(data); });
    for (size_t at = 0; at < text.size(); at += piece) {
      ASSERT_TRUE(stream.Feed(std::string_view(text).substr(at, piece)));
    }
    EXPECT_THAT(events, ElementsAre("one\ntwo", "", "{\"a\":1}")) << piece;
  }
}

}  // namespace
}  // namespace optiml
