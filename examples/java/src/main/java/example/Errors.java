package example;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.StringJoiner;
import java.util.TreeMap;

/** What an error of the actuator says beside its code: a google.rpc.ErrorInfo with a reason and metadata. */
final class Errors {

  private Errors() {}

  /** The ErrorInfo of an error; an empty one where the error carries none, as those of the transport do. */
  static ErrorInfo info(StatusRuntimeException error) {
    try {
      for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          return detail.unpack(ErrorInfo.class);
        }
      }
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the server sent details that are no protobuf", e);
    }
    return ErrorInfo.getDefaultInstance();
  }

  /** Such as {@code NOT_FOUND SESSION_NOT_FOUND field=id}, for programs and tests. */
  static String summary(StatusRuntimeException error) {
    var words = new StringJoiner(" ").add(error.getStatus().getCode().name());
    ErrorInfo info = info(error);
    if (!info.getReason().isEmpty()) {
      words.add(info.getReason());
    }
    new TreeMap<>(info.getMetadataMap()).forEach((key, value) -> words.add(key + "=" + value));
    return words.toString();
  }
}
