package example;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.io.IOException;

/** How the actuator is reached: its address, a certificate authority and a token, all from the environment. */
final class Connection {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private Connection() {}

  /**
   * A channel to ACTUATOR_ADDRESS, over TLS where ACTUATOR_CA names a file with the certificates to trust, with
   * ACTUATOR_TOKEN on every call. It connects at the first call.
   */
  static ManagedChannel open() throws IOException {
    var builder =
        Grpc.newChannelBuilder(System.getenv().getOrDefault("ACTUATOR_ADDRESS", "127.0.0.1:9001"), credentials())
            // A connection that is silently gone is noticed after half a minute, as long as something is called on it.
            .keepAliveTime(20, SECONDS)
            .keepAliveTimeout(10, SECONDS);
    String token = System.getenv("ACTUATOR_TOKEN");
    if (token != null) {
      var headers = new Metadata();
      headers.put(AUTHORIZATION, "Bearer " + token);
      builder.intercept(MetadataUtils.newAttachHeadersInterceptor(headers));
    }
    return builder.build();
  }

  private static ChannelCredentials credentials() throws IOException {
    String ca = System.getenv("ACTUATOR_CA");
    if (ca == null) {
      return InsecureChannelCredentials.create();
    }
    return TlsChannelCredentials.newBuilder().trustManager(new File(ca)).build();
  }
}
